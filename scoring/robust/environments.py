"""Environments: pairs of settings that differ in one hyperparameter (Dziugaite et al. 2020, 5).

A setting is a cell of the grid with a model in it; its runs are the models of that cell, which
differ in their seed alone. An environment e = (H, H') is two settings that differ in exactly one
hyperparameter, and its samples are all runs of one against all runs of the other (App. A.2; the
index in the paper's set of samples, (w_i, w'_i) over (i, j), is read as (w_i, w'_j)).

The paper counts (H, H') and (H', H) as two environments (hence "4,000 width environments" of 5
widths and 200 other settings, and 1.6 million ranking evaluations). The sign-error is the same for
both, so that here they are one: our counts are half of the paper's, and nothing else changes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Settings:
    """The cells of a grid that have a model."""

    codes: Ints  # [settings, hparams]: numbers of the values
    repeats: Ints  # [settings]: how many
    models: Ints  # [models]: their numbers, setting by setting

    def runs(self, settings: Ints, repeats: int) -> Ints:
        """The models [n, repeats] of settings [n] that all have so many."""
        first = np.cumsum(self.repeats) - self.repeats
        return self.models[first[settings][:, None] + np.arange(repeats)]


@dataclass(frozen=True, eq=False)
class Environments:
    """Pairs of settings that differ in exactly one hyperparameter."""

    hparam: Ints  # [environments]: the hyperparameter that differs
    values: Ints  # [environments, 2]: its two values' numbers, the smaller first
    others: Ints  # [environments]: numbers the values of all the others, for each hyperparameter
    settings: Ints  # [environments, 2]: the two settings, in the order of `values`

    def __len__(self) -> int:
        return len(self.hparam)


def find_settings(codes: npt.ArrayLike) -> Settings:
    """The settings of a grid `codes` [models, hparams], in lexicographic order."""
    codes = np.asarray(codes, dtype=np.intp)
    if codes.ndim != 2 or not len(codes):
        raise ScoringError(f"codes must be [models, hparams], not of shape {codes.shape}")
    cells, cell_of_model, repeats = np.unique(
        codes, axis=0, return_inverse=True, return_counts=True
    )
    return Settings(cells, repeats, np.argsort(cell_of_model.reshape(-1), kind="stable"))


def find_environments(settings: Settings) -> Environments:
    """All environments, hyperparameter by hyperparameter and by pair of its values."""
    found: list[tuple[Ints, Ints, Ints, Ints]] = []
    for k, column in enumerate(settings.codes.T):
        others = group_numbers(np.delete(settings.codes, k, axis=1))
        for pair in itertools.combinations(np.unique(column), 2):
            low, high = (np.flatnonzero(column == value) for value in pair)
            shared, at_low, at_high = np.intersect1d(
                others[low], others[high], assume_unique=True, return_indices=True
            )
            hparam = np.full(len(shared), k, dtype=np.intp)
            values = np.tile(np.array(pair, dtype=np.intp), (len(shared), 1))
            both = np.stack([low[at_low], high[at_high]], axis=1)
            found.append((hparam, values, shared, both))
    if not any(len(shared) for _, _, shared, _ in found):
        raise ScoringError(
            "there is no environment: no two models differ in exactly one hyperparameter "
            f"({len(settings.codes)} settings, {settings.codes.shape[1]} hyperparameters)"
        )
    return Environments(*(np.concatenate(column) for column in zip(*found)))


def group_numbers(codes: Ints) -> Ints:
    """Numbers the distinct rows of `codes` [n, columns] from 0: [n]."""
    if not codes.shape[1]:
        return np.zeros(len(codes), dtype=np.intp)
    return np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
