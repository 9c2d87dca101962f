"""A table of runs: hyperparameters, gap and measures of each model, from a task or from a CSV.

The CSV is the form in which Dziugaite et al. 2020 publish their runs: one row per trained model, a
column `hp.<name>` for each hyperparameter, `complexity.<name>` for each measure, and `gen.gap`.
Columns `is.<criterion>` hold True or False. What the authors' `load_data` does is done here too:

- left out, and counted, are rows that fail a criterion (C.5: runs that did not converge were
  filtered out before any analysis) and rows with a missing or infinite number in any column;
- the learning rate `hp.lr` is rounded to four decimals, because runs on different machines wrote it
  with different last digits. Of the other hyperparameters, numbers that differ by less than a
  millionth of their size are one value;
- `complexity.<name>_fft`, of exact spectral norms, replaces `complexity.<name>`;
- `train_dataset_size` is the hyperparameter `train_size`, in place of `hp.train_dataset_size`.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.errors import ScoringError
from scoring.files import did_you_mean

HPARAM, MEASURE, CRITERION, GAP = "hp.", "complexity.", "is.", "gen.gap"

_SAME = 1e-6
_FFT = "_fft"
_ROUNDED = {"hp.lr": 4}  # decimals
_SIZE = "train_dataset_size"
_TRUE, _FALSE = ("true", "1", "1.0"), ("false", "0", "0.0")


@dataclass(frozen=True, eq=False)
class Runs:
    """Models with their hyperparameters, gaps and measures."""

    name: str
    hparams: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]  # per hyperparameter, its values in order
    codes: npt.NDArray[np.intp]  # [models, hparams]: numbers of the values
    gap: npt.NDArray[np.float64]  # [models]
    measures: dict[str, npt.NDArray[np.float64]]  # each [models]
    left_out: tuple[str, ...] = ()  # what was not read, and why, in words

    def only(self, measures: Sequence[str]) -> Runs:
        """The same runs with these measures alone, in this order; `-name` is a negation."""
        chosen = {}
        for name in measures:
            known = name if name in self.measures else name.removeprefix("-")
            if known not in self.measures:
                hint = did_you_mean(known, self.measures)
                raise ScoringError(f"{self.name} has no measure {name!r}: {hint}")
            chosen[name] = self.measures[known] if known == name else -self.measures[known]
        return replace(self, measures=chosen)

    def where(self, hparam: str, value: str) -> Runs:
        """Only the runs with one value of a hyperparameter, which is then left out of `hparams`."""
        if hparam not in self.hparams:
            raise ScoringError(
                f"{self.name} has no hyperparameter {hparam!r}; there are {', '.join(self.hparams)}"
            )
        column = self.hparams.index(hparam)
        known = [str(v) for v in self.values[column]]
        if value not in known:
            raise ScoringError(f"{hparam} of {self.name} is never {value!r}: {', '.join(known)}")
        chosen = self.codes[:, column] == known.index(value)
        return Runs(
            f"{self.name}, {hparam} {value}",
            tuple(np.delete(np.array(self.hparams, object), column)),
            tuple(v for k, v in enumerate(self.values) if k != column),
            np.delete(self.codes, column, axis=1)[chosen],
            self.gap[chosen],
            {name: values[chosen] for name, values in self.measures.items()},
            self.left_out,
        )


def read_csv(path: str | Path) -> Runs:
    """Reads a table of runs; a `ScoringError` names the file and what it lacks."""
    path = Path(path)
    header, rows = _read(path)
    header, rows = _as_published(header, rows)
    hparams = [name for name in header if name.startswith(HPARAM)]
    measures = [
        name
        for name in header
        if name.startswith(MEASURE) and (name.endswith(_FFT) or f"{name}{_FFT}" not in header)
    ]
    for found, what in ((hparams, f"{HPARAM}*"), (measures, f"{MEASURE}*"), (GAP in header, GAP)):
        if not found:
            raise ScoringError(f"{path} has no column {what}; found {', '.join(header) or 'none'}")

    criteria = [name for name in header if name.startswith(CRITERION)]
    passed = [row for row in rows if all(_is_true(row[name], name, path) for name in criteria)]
    numbers = [GAP, *measures]
    table = np.array([[_number(row[name]) for name in numbers] for row in passed])
    table = table.reshape(len(passed), len(numbers))
    complete = np.isfinite(table).all(axis=1) & np.array(
        [not any(_is_missing(text) for text in row.values()) for row in passed], dtype=bool
    )
    table = table[complete]
    if not len(table):
        raise ScoringError(f"{path} has no complete row among its {len(rows)}")
    whole_rows = [row for row, whole in zip(passed, complete) if whole]
    columns = [_codes([row[name] for row in whole_rows], _ROUNDED.get(name)) for name in hparams]
    return Runs(
        name=path.stem,
        hparams=tuple(name[len(HPARAM) :] for name in hparams),
        values=tuple(values for values, _ in columns),
        codes=np.stack([codes for _, codes in columns], axis=1),
        gap=table[:, 0],
        measures={name[len(MEASURE) :]: column for name, column in zip(measures, table.T[1:])},
        left_out=_left_out(len(rows), len(passed), len(whole_rows), criteria),
    )


def _as_published(
    header: list[str], rows: list[dict[str, str]]
) -> tuple[list[str], list[dict[str, str]]]:
    """The size of the training set as a hyperparameter, where the authors' file has it beside."""
    old, new = f"{HPARAM}{_SIZE}", f"{HPARAM}train_size"
    if not {old, _SIZE} <= set(header):
        return header, rows
    renamed = [new if name == old else name for name in header if name != _SIZE]
    sizes = [row.pop(_SIZE) for row in rows]
    for row, size in zip(rows, sizes):
        row.pop(old)
        row[new] = size
    return renamed, rows


def _is_missing(text: str) -> bool:
    return text.strip().lower() in ("", "nan", "inf", "-inf", "infinity", "-infinity")


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, restval="")
            header, rows = list(reader.fieldnames or ()), []
            for row in reader:
                if None in row:
                    raise ScoringError(
                        f"{path}, line {reader.line_num}: {len(row[None])} more cells than the "
                        f"header's {len(header)}"
                    )
                rows.append(row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScoringError(f"cannot read {path}: {error}") from error
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ScoringError(f"{path} has the column {twice[0]} twice")
    return header, rows


def _is_true(text: str, criterion: str, path: Path) -> bool:
    word = text.strip().lower()
    if word not in (*_TRUE, *_FALSE):
        raise ScoringError(f"{path}: {criterion} is {text!r}, not True or False")
    return word in _TRUE


def _number(text: str) -> float:
    """NaN for whatever is no number, so that its row is left out."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _codes(
    texts: Sequence[str], decimals: int | None
) -> tuple[tuple[Any, ...], npt.NDArray[np.intp]]:
    """The distinct values in order, rounded where so said, and the number of each row's."""
    numbers = np.array([_number(text) for text in texts])
    if decimals is not None:
        numbers = numbers.round(decimals)
    if not np.isfinite(numbers).all():
        words, codes = np.unique([text.strip() for text in texts], return_inverse=True)
        return tuple(words.tolist()), codes.astype(np.intp)
    ordered = np.unique(numbers)
    far = ~np.isclose(ordered[1:], ordered[:-1], rtol=_SAME, atol=0.0)
    values = ordered[np.concatenate([[True], far])]
    codes = np.searchsorted(values, numbers, side="right") - 1
    return tuple(int(v) if v.is_integer() else v for v in values.tolist()), codes


def _left_out(rows: int, passed: int, kept: int, criteria: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if passed < rows:
        notes.append(f"{rows - passed} of {rows} runs fail {' or '.join(criteria)}")
    if kept < passed:
        notes.append(f"{passed - kept} of {rows} runs have a missing or infinite number")
    return tuple(notes)
