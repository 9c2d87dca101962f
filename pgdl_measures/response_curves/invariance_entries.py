"""Registry entries of the invariance measures: three for each perturbation of the inputs.

`gi_noise_l2` is parsed and not registered: what perturbs any tensor can perturb the output of layer
2, as Algorithm 1 of Schiff et al. 2021 says.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pgdl_measures.base import IMAGES, Measure

FAMILY = "invariance"

_SOURCE = "Schiff et al. 2021, Section 4.2, Table 2"
_OURS = "Schiff et al. 2021, Section 4.2; the perturbation and its range are ours"

# name -> words, and whether the paper has the perturbation
_PERTURBATIONS = {
    "rotation": ("rotation by up to 180 degrees", _SOURCE),
    "rotation90": ("rotation by up to 90 degrees", _SOURCE),
    "translation_x": ("horizontal translation", _SOURCE),
    "translation_y": ("vertical translation", _SOURCE),
    "colour_jitter": ("colour jitter", _SOURCE),
    "noise": ("Gaussian noise", _OURS),
    "intensity": ("scaling of the intensity", _OURS),
}


def entries() -> list[Measure]:
    """The measures of all perturbations that come with the toolkit."""
    return [
        measure
        for name, (words, source) in _PERTURBATIONS.items()
        for measure in perturbation_entries(name, words, source=source)
    ]


_AT_LAYER = re.compile(
    r"(?P<stem>(gi|mean_accuracy|augmented_accuracy)_(?P<what>noise|intensity))_l(?P<layer>[1-9]\d*)"
)


def parse(name: str) -> Measure | None:
    """The measure that a name such as `gi_noise_l2` describes."""
    if not (match := _AT_LAYER.fullmatch(name)):
        return None
    words, source = _PERTURBATIONS[match["what"]]
    (found,) = (
        measure
        for measure in perturbation_entries(match["what"], words, source=source)
        if measure.name == match["stem"]
    )
    return replace(
        found,
        name=name,
        summary=f"{found.summary} at the output of layer {match['layer']}",
        fixed={**found.fixed, "layer": int(match["layer"])},
        needs=(),
    )


def perturbation_entries(
    perturbation: str, words: str, where: str = "", source: str = "a perturbation of your own"
) -> list[Measure]:
    """The measures of one perturbation; a user's own has `where`, the `module:name` of it."""
    return [
        Measure(
            f"{name}_{perturbation}",
            summary,
            f"pgdl_measures.response_curves.invariance:{function}",
            {"perturbation": where or perturbation, "layer": 0},
            needs=(IMAGES,),
            family=FAMILY,
            definition=definition,
            source=source,
            cost=cost,
            use=use,
            unit="error" if name == "gi" else "accuracy",
        )
        for name, function, summary, definition, cost, use in (
            (
                "gi",
                "gi",
                f"Gi-score of the response curve of {words}",
                "Gi of the accuracy A(a) on perturbed images, the range of a mapped to [0, 1]",
                "high",
                f"To rank networks by how invariant they are to {words}.",
            ),
            (
                "mean_accuracy",
                "mean_accuracy",
                f"mean accuracy (negated) under {words}",
                "-mean of A(a) over regularly spaced magnitudes a",
                "high",
                "A baseline for gi of the same perturbation.",
            ),
            (
                "augmented_accuracy",
                "augmented",
                f"accuracy (negated) under random {words}",
                "-accuracy on images perturbed by magnitudes drawn uniformly from the range",
                "low",
                "A cheap baseline: one pass over the sample instead of 21.",
            ),
        )
    ]
