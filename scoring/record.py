"""The record of a run: the one description of `OUT/records.jsonl` and `OUT/run.json`.

`pgdl run` writes both files and resumes from them; the leaderboard and the report read them
through `scoring.recorded_run`.

    OUT/records.jsonl   one JSON object per line, one line per model and attempt: a `Line`
    OUT/run.json        the settings of the last run; `corpus` is the folder that was measured

A model that was measured again has several lines; for each measure the last one counts. A last line
without its end was cut off by a killed run and is ignored. Any other damaged line costs the results
that it held: it is named among the problems and the rest of the record is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from scoring.files import is_finite_number, model_name, parse_json

RECORDS = "records.jsonl"
RUN = "run.json"

Key = tuple[str, str, str]  # task, model, measure
_T = TypeVar("_T")


@dataclass(frozen=True)
class Stamp:
    """Digests of the files that were read: of names, sizes and times, and of their contents."""

    glance: str
    content: str


@dataclass(frozen=True)
class Curve:
    """A response curve of one model: accuracies `[magnitudes]`, and what was perturbed where."""

    magnitudes: tuple[float, ...]
    accuracy: tuple[float, ...]
    perturbation: str | None = None
    pairing: str | None = None
    layer: int | None = None

    @property
    def label(self) -> str:
        """What was perturbed, and where: `intra-class mixup at layer 0`."""
        mixup = f"{self.pairing}-class mixup" if self.pairing is not None else "perturbation"
        what = self.perturbation if self.perturbation is not None else mixup
        return what if self.layer is None else f"{what} at layer {self.layer}"


# Begins the reason of a measure that can have no value for this model and this data, whenever it is
# computed.
REFUSED = "does not apply: "


@dataclass(frozen=True)
class Result:
    """One measure of one model: a value, or the reason why there is none."""

    value: float | None
    error: str | None
    seconds: float
    fingerprint: str  # of the measure's code and options
    options: Mapping[str, Any]
    model_files: Stamp | None  # None where the files could not be read
    data_files: Stamp | None
    threads: int = 1  # of the worker


@dataclass(frozen=True)
class Line:
    """One line of `records.jsonl`: the results of one attempt at a model, by measure."""

    task: str
    model: str
    status: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    batches: Mapping[str, int] = field(default_factory=dict)  # used where "enough" was asked for
    curves: tuple[Curve, ...] = ()
    peak_memory: int | None = None  # bytes
    attempt: int = 1
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int = 0
    threads: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    model_files: Stamp | None = None
    data_files: Stamp | None = None
    time: str = ""
    stderr_tail: str = ""

    def encode(self) -> bytes:
        """The line as it is written, with its end."""
        content = asdict(self)
        content["curves"] = [_without_nones(curve) for curve in content["curves"]]
        return json.dumps(content).encode() + b"\n"

    def results(self) -> dict[Key, Result]:
        """The results of the measures in this line."""
        return {
            (self.task, self.model, measure): Result(
                self.values.get(measure),
                self.errors.get(measure),
                self.seconds.get(measure, 0.0),
                self.fingerprints.get(measure, ""),
                self.options.get(measure, {}),
                self.model_files,
                self.data_files,
                self.threads,
            )
            for measure in (*self.values, *self.errors)
        }


@dataclass(frozen=True)
class Lines:
    """The lines of a record, and the problems of those that could not be read."""

    lines: list[Line]
    problems: list[str]
    size: int  # bytes up to the end of the last whole line


def latest_results(lines: Iterable[Line]) -> dict[Key, Result]:
    """The last result of every measure of every model."""
    return {key: result for line in lines for key, result in line.results().items()}


def parse_lines(data: bytes, path: Path) -> Lines:
    """All lines of a record; messages about damaged ones name `path`."""
    *whole, cut_off = data.split(b"\n")
    lines, problems = [], []
    for number, text in enumerate(whole, 1):
        try:
            lines.append(parse_line(text))
        except ValueError as error:
            problems.append(f"{path}, line {number}, is damaged and ignored: {error}")
    return Lines(lines, problems, len(data) - len(cut_off))


def parse_line(text: bytes) -> Line:
    """One line; a ValueError says what is wrong with it."""
    content = parse_json(text)
    if not isinstance(content, dict):
        raise ValueError("expected a JSON object")
    known = {name: value for name, value in content.items() if name in _READERS}
    if not {"task", "model"} <= known.keys():
        raise ValueError("it has no `task` and `model`")
    return Line(**{name: _checked(name, value) for name, value in known.items()})


def _without_nones(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if value is not None}


def _checked(name: str, value: Any) -> Any:
    try:
        return _READERS[name](value)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"its `{name}` is {json.dumps(value)[:60]}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if not is_finite_number(value):
        raise TypeError
    return float(value)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _by_name(read: Callable[[Any], _T]) -> Callable[[Any], dict[str, _T]]:
    return lambda value: {name: read(part) for name, part in _mapping(value).items()}


def _optional(read: Callable[[Any], _T]) -> Callable[[Any], _T | None]:
    return lambda value: None if value is None else read(value)


def _stamp(value: Any) -> Stamp:
    return Stamp(_text(value["glance"]), _text(value["content"]))


def _curves(value: Any) -> tuple[Curve, ...]:
    if not isinstance(value, list):
        raise TypeError
    return tuple(map(_curve, value))


def _curve(value: Any) -> Curve:
    magnitudes, accuracy = (tuple(map(_number, value[k])) for k in ("magnitudes", "accuracy"))
    if len(magnitudes) != len(accuracy):
        raise ValueError
    return Curve(
        magnitudes,
        accuracy,
        _optional(_text)(value.get("perturbation")),
        _optional(_text)(value.get("pairing")),
        _optional(_integer)(value.get("layer")),
    )


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "task": _text,
    "model": lambda value: model_name(_text(value)),
    "status": _text,
    "values": _by_name(_number),
    "seconds": _by_name(_number),
    "errors": _by_name(_text),
    "batches": _by_name(_integer),
    "curves": _curves,
    "peak_memory": _optional(_integer),
    "attempt": _integer,
    "options": _by_name(_mapping),
    "seed": _integer,
    "threads": _integer,
    "versions": _by_name(_text),
    "fingerprints": _by_name(_text),
    "model_files": _optional(_stamp),
    "data_files": _optional(_stamp),
    "time": _text,
    "stderr_tail": _text,
}
