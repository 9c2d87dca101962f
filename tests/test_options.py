"""A wrong option is refused when it is set, before a model is loaded or a worker started."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import evaluate
from pgdl_measures import complexity, measures
from pgdl_measures.errors import MeasureError
from pgdl_measures.options import has_range


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_numeric_option_has_a_range_and_its_default_is_in_it(measure):
    for option, default in measure.defaults().items():
        if isinstance(default, (int, float)):
            assert isinstance(default, bool) or has_range(option), option
            measure.with_options(**{option: default})


@pytest.mark.parametrize(
    ("measure", "option", "value", "expected"),
    [
        ("gi_intra_l0", "batches", -3, "an integer of at least 1"),
        ("gi_intra_l0", "batches", 1.5, "an integer of at least 1"),
        ("gi_intra_l0", "batches", "many", "an integer of at least 1"),
        ("gi_intra_l0", "batches", True, "an integer of at least 1"),
        ("gi_intra_l0", "batches", None, "an integer of at least 1"),
        ("gi_intra_l0", "reshuffle", 1, "true or false"),
        ("mixup", "batch_size", 1, "an integer of at least 2"),
        ("mixup", "seed", 2**31, "an integer from 0 to 2147483647"),
        ("mixup", "max_bytes", 0, "an integer of at least 1"),
        ("contre_gap", "magnitude", float("nan"), "a number from 0 to 30"),
        ("contre_gap", "magnitude", 31, "a number from 0 to 30"),
    ],
)
def test_a_value_out_of_range_is_named(measure, option, value, expected):
    with pytest.raises(
        MeasureError, match=f"^{measure}: {option} is {value!r}; expected {expected}$"
    ):
        complexity(measure, **{option: value})


def test_none_is_a_value_where_it_is_the_default():
    assert complexity("contre_gap", examples=None).options == {"examples": None}


def test_a_run_with_a_wrong_option_never_starts(tmp_path: Path):
    class Executor:
        def run(self, jobs):
            raise AssertionError("work was handed out")

    (tmp_path / "zoo" / "t" / "model_0").mkdir(parents=True)
    (tmp_path / "zoo" / "t" / "dataset_1" / "train").mkdir(parents=True)
    (tmp_path / "zoo" / "t" / "model_0" / "config.json").write_text("{}")
    with pytest.raises(MeasureError, match="mixup: batches is -3"):
        evaluate(
            tmp_path / "zoo",
            ["mixup"],
            tmp_path / "out",
            options={"batches": -3},
            executor=Executor(),
        )
    assert not (tmp_path / "out").exists()
