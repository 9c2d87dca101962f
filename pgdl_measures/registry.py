"""Name -> Measure. Listing the measures imports none of their code, nor TensorFlow.

Each family documents its measures in its own `entries.py`. Three kinds of names are understood:
registered ones (`mixup`), those with a layer (`gi_intra_l3`), and negations of both (`-mixup`).
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from typing import Any

from pgdl_measures.adversarial import entries as adversarial
from pgdl_measures.base import COSTS, Measure
from pgdl_measures.competition import entries as competition
from pgdl_measures.contre import entries as contre
from pgdl_measures.errors import PgdlError, UnknownNameError
from pgdl_measures.neighbours import entries as neighbours
from pgdl_measures.norms import entries as norms
from pgdl_measures.response_curves import entries as mixup_curves
from pgdl_measures.response_curves import invariance_entries as invariance

registered_measures: dict[str, Measure] = {}
_LAYER = re.compile(r"_l\d+$")


def register(measure: Measure) -> None:
    """Adds a measure under a new name."""
    if measure.name in registered_measures:
        raise PgdlError(f"there is a measure named {measure.name!r} already")
    registered_measures[measure.name] = measure


def measures(
    pattern: str = "*",
    *,
    family: str | None = None,
    needs: str | None = None,
    without: str | None = None,
    max_cost: str | None = None,
) -> list[Measure]:
    """The registered measures, in the order of their families, or those that match all filters.

    `pattern` is of names, as `gi_*`; `needs` and `without` keep the measures that do, or do not,
    need this (`images`, …); `max_cost` keeps those up to one of `COSTS`.
    """
    everything = list(registered_measures.values())
    all_needs = {need for measure in everything for need in measure.needs}
    costs = list(COSTS)
    for kind, given, known in (
        ("family", family, {measure.family for measure in everything if measure.family}),
        ("need", needs, all_needs),
        ("need", without, all_needs),
        ("cost", max_cost, set(costs)),
    ):
        if given is not None and given not in known:
            raise UnknownNameError(kind, given, known)
    affordable = {"", *(costs[: costs.index(max_cost) + 1] if max_cost else costs)}
    return [
        measure
        for measure in everything
        if fnmatch(measure.name, pattern)
        and family in (None, measure.family)
        and (needs is None or needs in measure.needs)
        and without not in measure.needs
        and measure.cost in affordable
    ]


def complexity(name: str, **options: Any) -> Measure:
    """The measure of that name: a function `complexity(model, dataset) -> float`.

    `-name` is its negation.
    """
    stem = name[1:] if name.startswith("-") else name
    found = registered_measures.get(stem) or mixup_curves.parse(stem) or invariance.parse(stem)
    if found is None:
        raise UnknownNameError("measure", name, _known(name))
    measure = found.negated() if name.startswith("-") else found
    return measure.with_options(**options) if options else measure


def _known(name: str) -> list[str]:
    """Candidates for a misspelled name: at its layer, and negated if it is."""
    sign = "-" if name.startswith("-") else ""
    layer = _LAYER.search(name)
    at_layer = {_LAYER.sub(layer[0], n) for n in registered_measures} if layer else set()
    return [f"{sign}{n}" for n in at_layer.union(registered_measures)]


for _family in (mixup_curves, contre, invariance, adversarial, norms, competition, neighbours):
    for _measure in _family.entries():
        register(_measure)
