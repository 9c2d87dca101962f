"""A submission to the competition: `complexity.py`, `metadata` and the modules that it needs.

The kit unpacks the zip, appends its folder to `sys.path` and calls `complexity(model, dataset)` of
`complexity.py`. Beside the zip only tensorflow, numpy, scipy and absl-py are
needed. A `metadata` file with a `command` would be run by the platform itself; ours has none.

Values are those of `pgdl run` with the same options, to the last bit where TensorFlow has as many
threads: the order of its sums depends on them. `pgdl run` has one thread per worker by default; the
kit leaves it to TensorFlow, which reads TF_NUM_INTRAOP_THREADS and TF_NUM_INTEROP_THREADS.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import fields, replace

from ingestion.source_closure import is_ours
from pgdl_measures.base import Measure
from pgdl_measures.errors import UnknownNameError
from pgdl_measures.registry import complexity
from pgdl_measures.registry import measures as registered
from scoring.combine import MODEL_BY_MODEL
from scoring.predictor import Predictor
from starting_kit_adapter.bundle.errors import BundleError
from starting_kit_adapter.bundle.vendor import vendored

PACKAGE = "pgdl_bundle"  # not among installed packages, nor in the programs that run submissions

_ONE = '''\
"""{description}

Made by `pgdl bundle`; larger means a larger predicted generalization gap.
"""

from {package}.pgdl_measures.base import Measure

MEASURE = {measure!r}


def complexity(model, dataset):
    return MEASURE(model, dataset)
'''

_SEVERAL = '''\
"""{description}

Made by `pgdl bundle`; larger means a larger predicted generalization gap.
"""

from {package}.pgdl_measures.base import Measure, Subject
from {package}.{module} import {name}

MEASURES = [
{measures}
]


def complexity(model, dataset):
    subject = Subject(model, dataset, max_bytes=MEASURES[0].max_bytes)
    values = [measure.on(subject) for measure in MEASURES]
    return {combined}
'''


def submission_files(measures: Sequence[Measure], rule: str | None = None) -> dict[str, bytes]:
    """The files of a submission of one measure, or of several and the rule that combines them."""
    if not measures or (len(measures) > 1) != (rule is not None):
        raise BundleError(
            f"{len(measures)} measures and the combination {rule!r}: several measures need one of "
            f"{', '.join(MODEL_BY_MODEL)}, and one measure needs none"
        )
    if rule is not None and rule not in MODEL_BY_MODEL:
        raise UnknownNameError("combination", rule, MODEL_BY_MODEL)
    if rule is None:
        program = _ONE.format(
            description=_in_docstring(describe(measures)),
            package=PACKAGE,
            measure=_inside(measures[0]),
        )
        return _files(program, describe(measures), measures)
    combined = f"combine_one({rule!r}, values)"
    return _several(describe(measures, rule), measures, "scoring.combine:combine_one", combined)


def predictor_files(predictor: Predictor) -> dict[str, bytes]:
    """The files of a submission that is a learned predictor of the gap."""
    measures = [complexity(name, **predictor.options.get(name, {})) for name in predictor.measures]
    names, tasks = ", ".join(predictor.measures), ", ".join(predictor.tasks)
    description = f"gap predicted from {names}, learned from {tasks}"
    combined = f"{predictor!r}.gap(values)"
    return _several(description, measures, "scoring.predictor:Predictor", combined)


def describe(measures: Sequence[Measure], rule: str | None = None) -> str:
    """One line: the measures, how they are combined, and the options that were set."""
    names = ", ".join(measure.name for measure in measures)
    what = f"{rule} of {names}" if rule else f"{names}, {measures[0].summary}"
    options = {k: v for measure in measures for k, v in measure.options.items()}
    settings = ", ".join(f"{name}={value}" for name, value in sorted(options.items()))
    return f"{what} ({settings})" if settings else what


def _several(
    description: str, measures: Sequence[Measure], combining: str, combined: str
) -> dict[str, bytes]:
    """A submission of the expression `combined` of `values`; `combining` is what it needs."""
    module, _, name = combining.partition(":")
    program = _SEVERAL.format(
        description=_in_docstring(description),
        package=PACKAGE,
        module=module,
        name=name,
        measures="\n".join(f"    {_inside(measure)!r}," for measure in measures),
        combined=combined,
    )
    return _files(program, description, measures, module)


def _in_docstring(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")


def _files(
    program: str, description: str, measures: Sequence[Measure], *others: str
) -> dict[str, bytes]:
    """The program with its description, and the modules of the measures and `others`."""
    modules = {"pgdl_measures.base", *(module for m in measures for module in _modules(m))}
    if not all(map(is_ours, modules)):  # a user's code may use or register any measure
        modules |= {module for m in registered() for module in _modules(m)}
        modules.add("pgdl_measures.own_perturbations")
    return {
        "complexity.py": program.encode(),
        "metadata": f"description: {json.dumps(description)}\n".encode(),  # JSON text is YAML text
        **vendored([*modules, *others], PACKAGE),
    }


def _inside(measure: Measure) -> Measure:
    """The measure as it is named inside of the bundle, written as Python by its `repr`."""
    for field in fields(measure):
        value = getattr(measure, field.name)
        try:
            plain = ast.literal_eval(repr(value)) == value
        except (ValueError, SyntaxError):
            plain = False
        if not plain:
            raise BundleError(
                f"{measure.name} has {field.name}={value!r}; only numbers, text, and lists and "
                "dictionaries of them can be written into a bundle"
            )
    fixed = {k: f"{PACKAGE}.{v}" if _is_own(v) else v for k, v in measure.fixed.items()}
    return replace(measure, target=f"{PACKAGE}.{measure.target}", fixed=fixed)


def _modules(measure: Measure) -> set[str]:
    """The modules that a measure is of: that of its function, and of a user's perturbation."""
    named = [value for value in measure.fixed.values() if _is_own(value)]
    return {target.partition(":")[0] for target in (measure.target, *named)}


def _is_own(value: object) -> bool:
    """Whether what makes a measure is a perturbation of the user's, `module:name`."""
    return isinstance(value, str) and ":" in value
