"""Registered measures as text: the list, the page of one measure, and docs/measures.md."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgdl_measures.base import COSTS, UNITS, Measure
from starting_kit_adapter.terminal.text import table

NAMES = """\
Curve measures exist for every layer, named by its number: gi_intra_l3, pal_inter_l2,
mean_accuracy_intra_l5, manifold_mixup_l2, gi_noise_l1, gi_intensity_l2. l0 is the input, and
`pgdl ls layers MODEL` numbers the others. gi_area_intra_l0 is Gi without its normalization, and
pal_algorithm4_intra_l0 is Pal as Algorithm 4 of Schiff et al. 2021. A minus negates: -mixup."""

_FAMILIES = {
    "mixup curves": "A curve is the accuracy on mixtures (1 - a) x1 + a x2 of two training "
    "examples, against the magnitude a from 0 to 0.5. intra: both are of one class; inter: of two. "
    "Gi and Pal are two numbers that sum up a curve.",
    "contrastive examples": "Contrastive examples are training images that are transformed at "
    "random.",
    "invariance": "The response curve of a perturbation is the accuracy on perturbed training "
    "images, against its magnitude.",
    "adversarial": "A test of whether the model is independent of the images.",
    "norms": "Norms of the weights, margins, and PAC-Bayes bounds.",
    "competition": "The starting kit's baselines, and the measures of the first three teams.",
    "training data": "Of the data alone.",
}

_HEADER = """\
# Measures

<!-- Made by `pgdl ls measures --markdown > docs/measures.md`. Do not edit: a test compares. -->

`pgdl ls measures` prints the list and `pgdl ls measures NAME` the entry of one measure. For every
measure a larger value predicts a larger generalization gap; what is large for networks that
generalize, such as an accuracy, is negated.

- **Names.** {names}
- **Options** are set by `complexity(name, option=value)` or `pgdl run --set option=value`. Every
  measure also takes `max_bytes`, the memory for the training inputs and what is kept of each. Curve
  measures take `batches=enough`: no more batches than it takes to tell the models of a task apart.
- **Needs**: data or files that some models or tasks do not have.
- **Cost**: how many examples go through the network if there are 50,000 training examples.
  {costs}.
- **Unit**: measures that are an accuracy, an error or a gap of accuracies predict how large the gap
  is; all others only predict which of two models has the larger one.
- **Source**: [papers.md](papers.md) resolves the citations.

In the definitions A(a) is the accuracy on training examples perturbed with magnitude a, f the
network, m the number of training examples, W_i the kernel of layer i of d with batch norm fused and
W_i^0 its initial value, w all kernels as one vector of omega weights, |W|_F and |W|_2 the Frobenius
and the spectral norm, g the 10th percentile of the output margins.
"""


def measure_list(chosen: Sequence[Measure]) -> str:
    """A table per family."""
    parts = []
    for family, members in by_family(chosen).items():
        rows = [[m.name, m.summary, m.cost, ", ".join(m.needs)] for m in members]
        head = "\n".join([family, *textwrap.wrap(_FAMILIES.get(family, ""), 100)])
        parts.append(f"{head}\n{table(['measure', 'what it is', 'cost', 'needs'], rows)}")
    return "\n\n".join(parts)


def measure_page(measure: Measure) -> str:
    """All that is known of one measure; its code is imported for the options."""
    lines = [f"{measure.name}: {measure.summary}", ""]
    facts = {**_facts(measure), "options": _options(measure) or "none"}
    for name, fact in facts.items():
        lines += textwrap.wrap(fact, 100, initial_indent=f"{name:<11} ", subsequent_indent=" " * 12)
    return "\n".join(lines)


def markdown(chosen: Sequence[Measure]) -> str:
    """The whole of docs/measures.md."""
    costs = "; ".join(f"`{name}`: {words}" for name, words in COSTS.items())
    parts = [_HEADER.format(names=NAMES.replace("\n", "\n  "), costs=costs)]
    for family, members in by_family(chosen).items():
        about = textwrap.fill(_FAMILIES.get(family, ""), 100)
        parts += [f"## {family.capitalize()}\n", *([f"{about}\n"] if about else [])]
        parts += [_section(measure) for measure in members]
    parts.append(_networks())
    return "\n".join(parts)


def _networks() -> str:
    """Which measures have no value for which well-known networks, as a slow test found out."""
    found = json.loads(Path(__file__).with_name("networks.json").read_text(encoding="utf-8"))
    text = (
        "Which measures have no value for these untrained image classifiers of 32x32x3 inputs, and "
        "why. Names that `keras.applications` has are its networks. Found by `pytest -m slow "
        "tests/networks/test_matrix.py`."
    )
    lines = ["## Networks", "", *textwrap.wrap(text, 100), ""]
    lines += ["| network | without a value | why |", "| --- | --- | --- |"]
    for network, refusals in found.items():
        names = ", ".join(f"`{name}`" for name in refusals) or "none"
        reasons = "; ".join(dict.fromkeys(refusals.values()))
        lines.append(f"| {network} | {names} | {reasons} |")
    return "\n".join(lines) + "\n"


def by_family(chosen: Sequence[Measure]) -> Mapping[str, list[Measure]]:
    """Measures grouped by family; those of a user's module have none."""
    groups: dict[str, list[Measure]] = {}
    for measure in chosen:
        groups.setdefault(measure.family or "your own", []).append(measure)
    return groups


def _section(measure: Measure) -> str:
    facts = {**_facts(measure), "options": f"`{_options(measure)}`" if _options(measure) else ""}
    facts["definition"] = f"`{facts['definition']}`"
    lines = [f"- {name}: {fact}" for name, fact in facts.items() if _says(fact)]
    sentence = f"{measure.summary[0].upper()}{measure.summary[1:]}."
    return "\n".join([f"### `{measure.name}`", "", sentence, "", *lines, ""])


def _facts(measure: Measure) -> dict[str, str]:
    return {
        "definition": measure.definition,
        "source": measure.source,
        "needs": ", ".join(measure.needs) or "nothing",
        "cost": measure.cost,
        "unit": UNITS.get(measure.unit, "none: only the order of its values has a meaning"),
        "use": measure.use,
    }


def _says(fact: str) -> bool:
    return bool(fact) and not fact.startswith(("nothing", "none"))


def _options(measure: Measure) -> str:
    return ", ".join(f"{k}={_value(v)}" for k, v in measure.defaults().items())


def _value(value: Any) -> str:
    return repr(value) if not isinstance(value, str) else value
