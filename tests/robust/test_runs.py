"""Tables of runs: what is read, what is left out, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robust_runs import random_runs, write_csv

from scoring.errors import ScoringError
from scoring.robust.runs import read_csv


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    runs = random_runs()
    found = read_csv(write_csv(tmp_path / "made_up.csv", runs))
    assert found.name == "made_up" and found.hparams == runs.hparams
    assert found.values == ((2, 3, 4), (8, 16), (0.01, 0.1))  # in order of size
    assert np.array_equal(found.codes, np.column_stack([runs.codes[:, :2], 1 - runs.codes[:, 2]]))
    assert np.array_equal(found.gap, runs.gap)
    assert {name: v.tolist() for name, v in found.measures.items()} == {
        name: v.tolist() for name, v in runs.measures.items()
    }
    assert not found.left_out


def test_runs_that_fail_a_criterion_or_lack_a_number_are_left_out_and_counted(
    tmp_path: Path,
) -> None:
    runs = random_runs()
    models = len(runs.gap)
    runs.measures["good"][5] = np.inf
    runs.gap[6] = np.nan
    converged = [True] * (models - 2) + [False] * 2
    accurate = [False] + [True] * (models - 1)
    path = write_csv(
        tmp_path / "runs.csv", runs, **{"is.converged": converged, "is.accurate": accurate}
    )
    found = read_csv(path)
    assert len(found.gap) == models - 5
    assert found.left_out == (
        "3 of 48 runs fail is.converged or is.accurate",
        "2 of 48 runs have a missing or infinite number",
    )


def test_the_last_digits_of_a_number_make_no_new_value(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = ["0.0015848931924611134,1,svhn", "0.001584893192461114,1.0,cifar10", "0.01,2e0,svhn"]
    lines = [f"{row},0.1,{k}" for k, row in enumerate(rows)]
    path.write_text("\n".join(["hp.lr,hp.depth,hp.dataset,gen.gap,complexity.c", *lines]))
    found = read_csv(path)
    assert found.codes.tolist() == [[0, 0, 1], [0, 0, 0], [1, 1, 1]]
    assert found.values[1:] == ((1, 2), ("cifar10", "svhn"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column hp"),
        ("hp.a,gen.gap\n1,2", "has no column complexity"),
        ("hp.a,complexity.c\n1,2", "has no column gen.gap; found hp.a, complexity.c"),
        ("hp.a,complexity.c,gen.gap\n", "has no complete row among its 0"),
        ("hp.a,complexity.c,gen.gap\n1,nan,3\n,2,3", "has no complete row among its 2"),
        ("hp.a,hp.a,complexity.c,gen.gap\n1,1,2,3", "has the column hp.a twice"),
        ("hp.a,complexity.c,gen.gap,is.ok\n1,2,3,maybe", "is.ok is 'maybe', not True or False"),
    ],
)
def test_what_is_no_table_of_runs_says_so(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(ScoringError, match=message):
        read_csv(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match=r"cannot read .*gone\.csv"):
        read_csv(tmp_path / "gone.csv")
