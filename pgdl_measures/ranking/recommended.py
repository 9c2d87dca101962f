"""The measures by which models are ranked unless others are named, and how often they are computed.

All are in accuracy units, which is what compares models of different training accuracies. Of each
kind of change to the training examples there is one, so that none counts twice: the one whose gaps
had the largest Kendall's tau with the true gaps on networks of Fashion-MNIST that were trained to
different degrees, if that was 0.45 or more (docs/rank.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pgdl_measures.base import IMAGES, Measure

RECOMMENDED = (
    "mixup",  # means of two examples of one class
    "manifold_mixup",  # the same at the first layer's output
    "contre_gap",  # RandAugment
    "contre_random_crop",  # shifts
    "contre_random_flip",  # mirror images
)
SEEDS = 5  # each measure that draws at random is computed with so many
EXAMPLES = 16 * 128  # drawn per seed


class Variant(NamedTuple):
    """A measure with one of the seeds."""

    of: str  # the measure's name
    measure: Measure


def recommended(*, images: bool) -> list[str]:
    """The recommended measures; without images those that need none."""
    from pgdl_measures.registry import complexity

    return [n for n in RECOMMENDED if images or IMAGES not in complexity(n).needs]


def limited(measure: Measure, examples: int) -> Measure:
    """The measure on about so many examples, where it has an option for that not yet set."""
    defaults = measure.defaults()
    options = {}
    if "batches" in defaults and "batches" not in measure.options:
        size = measure.options.get("batch_size", defaults.get("batch_size", 128))
        options["batches"] = max(1, min(defaults["batches"], examples // size))
    if "examples" in defaults and "examples" not in measure.options:
        options["examples"] = examples
    return measure.with_options(**options)


def variants(measures: Sequence[Measure], seeds: int = SEEDS) -> list[Variant]:
    """Every measure once per seed; one that draws nothing, once."""
    found = []
    for measure in measures:
        if "seed" not in measure.defaults():
            found.append(Variant(measure.name, measure))
            continue
        few = limited(measure, EXAMPLES)
        for seed in range(seeds):
            named = replace(few.with_options(seed=seed), name=f"{measure.name}_s{seed}")
            found.append(Variant(measure.name, named))
    return found
