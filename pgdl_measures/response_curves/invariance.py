"""The measures of invariance (Schiff et al. 2021, Section 4.2): Gi and its two baselines.

Of the response curve of a perturbation over its whole range: Gi and (negated) the mean accuracy;
and, as the other baseline, the accuracy (negated) on training images that are randomly perturbed.
The paper uses a tenth of the training data, which for its data sets is about 40 batches of 128. Pal
is left out there and here, because these curves fall towards both of their ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgdl_measures.base import Subject
from pgdl_measures.data import check_images
from pgdl_measures.errors import MeasureError
from pgdl_measures.perturbations.catalogue import perturbation as find_perturbation
from pgdl_measures.perturbations.value_range import ValueRange, training_range
from pgdl_measures.response_curves import statistics
from pgdl_measures.response_curves.curves import Curve
from pgdl_measures.response_curves.enough import Batches, curve_of
from pgdl_measures.response_curves.perturbation_curves import (
    BATCHES,
    augmented_accuracy,
    available_batches,
    perturbation_curve,
)
from pgdl_measures.response_curves.shared import shared_columns
from pgdl_measures.unperturbed import unperturbed

POINTS = 21


def gi(
    subject: Subject,
    *,
    perturbation: str,
    layer: int = 0,
    points: int = POINTS,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The Gi-score of the curve, its range mapped to [0, 1]. `points`: how many magnitudes."""
    curve = response_curve(
        subject,
        perturbation,
        layer=layer,
        points=points,
        batches=batches,
        batch_size=batch_size,
        seed=seed,
    )
    return curve.statistic(statistics.gi)


def mean_accuracy(
    subject: Subject,
    *,
    perturbation: str,
    layer: int = 0,
    points: int = POINTS,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The mean of the curve, negated."""
    curve = response_curve(
        subject,
        perturbation,
        layer=layer,
        points=points,
        batches=batches,
        batch_size=batch_size,
        seed=seed,
        statistic=statistics.mean_accuracy,
    )
    return -curve.statistic(statistics.mean_accuracy)


def augmented(
    subject: Subject,
    *,
    perturbation: str,
    layer: int = 0,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
) -> float:
    """The accuracy on training images under magnitudes drawn from the whole range, negated.

    It is a single pass over the batches: "enough" are all.
    """
    return -augmented_accuracy(
        subject.network,
        subject.data,
        _values(subject, layer),
        find_perturbation(perturbation),
        layer=layer,
        batches=BATCHES if isinstance(batches, str) else batches,
        batch_size=batch_size,
        seed=seed,
    )


def response_curve(
    subject: Subject,
    name: str,
    *,
    layer: int = 0,
    points: int = POINTS,
    batches: Batches = BATCHES,
    batch_size: int = 128,
    seed: int = 0,
    statistic: statistics.Statistic = statistics.gi,
) -> Curve:
    """The curve of the perturbation of that name, which measures of a subject share.

    `statistic` is what the batches must be enough for.
    """
    if points < 2:
        raise MeasureError(f"a curve of {points} magnitudes was asked for; expected 2 or more")
    found = find_perturbation(name)
    settings = {"layer": layer, "batch_size": batch_size, "seed": seed}
    available = available_batches(len(subject.data), batch_size)

    def compute(missing: Sequence[float], batches: int, skip: int) -> Curve:
        return perturbation_curve(
            subject.network,
            subject.data,
            _values(subject, layer),
            found,
            missing,
            batches=batches,
            skip=skip,
            unperturbed=unperturbed(subject),
            **settings,
        )

    named = {"perturbation": found.name, **settings}

    def curve(number: int) -> Curve:
        number = min(number, available)
        # The range of a layer is that of the curve's examples: more batches are another curve.
        of = {**named, "batches": number} if layer else named
        return shared_columns(subject, of, found.magnitudes(points), number, compute)

    key = (statistic, points, *named.items())
    return curve_of(subject, key, statistic, batches, min(BATCHES, available), curve)


def _values(subject: Subject, layer: int) -> ValueRange:
    if layer == 0:
        check_images(subject.data.shape)
    return training_range(subject)
