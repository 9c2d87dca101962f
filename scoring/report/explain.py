"""Which hyperparameter the gap depends on most: the one that colours plots of the models."""

from __future__ import annotations

import numpy as np

from scoring.kit.reference import Reference


def explained(reference: Reference) -> dict[str, float]:
    """The share of the gap's variance that lies between a hyperparameter's values (eta squared)."""
    centred = reference.gap - reference.gap.mean()
    total = float(np.sum(centred**2))
    shares = {}
    for name, codes in zip(reference.hparams, reference.codes.T):
        models, sums = np.bincount(codes), np.bincount(codes, centred)
        between = float(np.sum(sums[models > 0] ** 2 / models[models > 0]))
        shares[name] = between / total if total > 0 else 0.0
    return shares


def most_explaining(reference: Reference) -> str | None:
    """The hyperparameter with the largest share; None if there is no hyperparameter."""
    shares = explained(reference)
    return max(shares, key=shares.__getitem__) if shares else None
