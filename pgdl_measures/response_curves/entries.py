"""Registry entries of the mixup response curves, and the names that say a layer.

`gi_intra_l3` is parsed and not registered: the statistic, the pairing and the layer are its name.
Layer 0 is the input, layer l the output of the l-th layer.
"""

from __future__ import annotations

import re

from pgdl_measures.base import Measure

FAMILY = "mixup curves"

_TARGET = "pgdl_measures.response_curves.measures:response"

# What A is: the share of mixed pairs that keep the label of their first end, by the magnitude a.
_DEFINITIONS = {
    "gi": "integral of (a - integral of A up to a) over a, divided by a_max^2 / 2; 0 is ideal, 1 "
    "is always wrong",
    "gi_area": "integral of (a - integral of A up to a) over a, not normalized",
    "pal": "-(area under the integral of A over the top 60 % of magnitudes) / (the same over the "
    "bottom 10 %)",
    "pal_algorithm4": "-(trapezoid of A that ends at 60 % of the magnitudes) / (the one that ends "
    "at 10 %)",
    "mean_accuracy": "-mean of A over the magnitudes",
}

_SUMMARIES = {
    "gi": "Gi-score",
    "gi_area": "Gi-score, not normalized,",
    "pal": "Pal-score (negated)",
    "pal_algorithm4": "Pal-score (negated) as Algorithm 4 prints it,",
    "mean_accuracy": "mean accuracy (negated)",
}

_SOURCES = {
    "gi": "Schiff et al. 2021, Alg. 1-3",
    "gi_area": "Schiff et al. 2021b, Section 3.2",
    "pal": "Schiff et al. 2021, Section 3.3, Alg. 1 and 3",
    "pal_algorithm4": "Schiff et al. 2021, Alg. 4",
    "mean_accuracy": "Schiff et al. 2021, Section 4.2.2, Alg. 1 and 3",
}

_USES = {
    "gi": "The curve statistic to try first: between 0 and 1, defined for every network.",
    "gi_area": "To compare with numbers of Schiff et al. 2021b; ranks models exactly as gi does.",
    "pal": "If networks differ at both ends of the curve; undefined if the accuracy at small "
    "magnitudes is 0.",
    "pal_algorithm4": "To compare with an implementation of the printed pseudo-code.",
    "mean_accuracy": "A baseline for gi and pal of the same curve.",
}

_UNITS = {"gi": "error", "mean_accuracy": "accuracy"}

_REGISTERED = ("gi", "pal", "mean_accuracy")  # the others are found by their names
_NAME = re.compile(
    rf"(?P<statistic>{'|'.join(_DEFINITIONS)})_(?P<pairing>intra|inter)_l(?P<layer>0|[1-9]\d*)"
)
_MANIFOLD = re.compile(r"manifold_mixup_l(?P<layer>0|[1-9]\d*)")


def entries() -> list[Measure]:
    """The measures of Schiff et al. 2021: statistics at l = 0 and 1, mixup and manifold mixup."""
    curves = [
        _curve(statistic, pairing, layer)
        for statistic in _REGISTERED
        for pairing in ("intra", "inter")
        for layer in (0, 1)
    ]
    return [*curves, _mixup("mixup", 0), _mixup("manifold_mixup", 1)]


def parse(name: str) -> Measure | None:
    """The measure that a name such as `gi_intra_l3` describes."""
    if match := _NAME.fullmatch(name):
        return _curve(match["statistic"], match["pairing"], int(match["layer"]))
    if match := _MANIFOLD.fullmatch(name):
        return _mixup(name, int(match["layer"]))
    return None


def _curve(statistic: str, pairing: str, layer: int) -> Measure:
    return Measure(
        f"{statistic}_{pairing}_l{layer}",
        f"{_SUMMARIES[statistic]} of the {pairing}-class mixup curve at {_where(layer)}",
        _TARGET,
        {"statistic": statistic, "pairing": pairing, "layer": layer},
        family=FAMILY,
        definition=_DEFINITIONS[statistic],
        source=_SOURCES[statistic],
        cost="high",
        use=_USES[statistic],
        unit=_UNITS.get(statistic, ""),
    )


def _mixup(name: str, layer: int) -> Measure:
    return Measure(
        name,
        f"accuracy (negated) on the means of two examples of one class at {_where(layer)}",
        _TARGET,
        {"statistic": "end_point", "pairing": "intra", "layer": layer, "magnitudes": (0.5,)},
        family=FAMILY,
        definition="-A(0.5), intra-class",
        source="Schiff et al. 2021, Section 4.1.2; Natekar and Sharma 2020",
        cost="low",
        use="A quick first look: one magnitude instead of a curve.",
        unit="accuracy",
    )


def _where(layer: int) -> str:
    names = ("the input", "the first layer's output")
    return names[layer] if layer < len(names) else f"the output of layer {layer}"
