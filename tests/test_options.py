"""A wrong option is refused when it is set, before a model is loaded or a worker started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingestion import evaluate
from pgdl_measures import complexity, measures
from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.base import Measure
from pgdl_measures.errors import MeasureError
from pgdl_measures.options import LISTS, RANDAUGMENT, WORDS
from pgdl_measures.perturbations import operations


@pytest.mark.parametrize("measure", measures(), ids=lambda measure: measure.name)
def test_every_option_is_checked_and_its_default_is_allowed(measure):
    for option, default in measure.defaults().items():
        measure.with_options(**{option: default})
        with pytest.raises(
            MeasureError, match=f"^{measure.name}: {option} is 'wrongword'; expected"
        ):
            measure.with_options(**{option: "wrongword"})


def test_the_words_are_those_that_the_code_knows():
    assert WORDS["generator"] == tuple(GENERATORS)
    assert LISTS["operations"] == tuple(operations.OPERATIONS)
    assert tuple(operations.RANDAUGMENT) == RANDAUGMENT


@pytest.mark.parametrize(
    ("measure", "option", "value", "expected"),
    [
        ("gi_intra_l0", "batches", -3, "an integer of at least 1, or 'enough'"),
        ("gi_intra_l0", "batches", 1.5, "an integer of at least 1, or 'enough'"),
        ("gi_intra_l0", "batches", "many", "an integer of at least 1, or 'enough'"),
        ("gi_intra_l0", "batches", True, "an integer of at least 1, or 'enough'"),
        ("gi_intra_l0", "batches", None, "an integer of at least 1, or 'enough'"),
        ("gi_intra_l0", "reshuffle", 1, "true or false"),
        ("mixup", "batch_size", 1, "an integer of at least 2"),
        ("mixup", "seed", 2**31, "an integer from 0 to 2147483647"),
        ("mixup", "max_bytes", 0, "an integer of at least 1"),
        ("contre_gap", "magnitude", float("nan"), "a number from 0 to 30"),
        ("contre_gap", "magnitude", 31, "a number from 0 to 30"),
        ("log_prod_of_spec", "stride", "keep", "kept or ignored"),
        ("adversarial_pvalue", "padding", 3, "auto, upsample or circular"),
        ("contre_gap", "operations", "Rotate, Blur", "some of AutoContrast, .*"),
        ("contre_gap", "operations", 5, "some of AutoContrast, .*"),
        ("gi_intra_l0", "magnitudes", [0, 0.2, 0.1], "a list of increasing numbers from 0 to 1"),
        ("gi_intra_l0", "magnitudes", [0, 5], "a list of increasing numbers from 0 to 1"),
        ("gi_intra_l0", "magnitudes", [-0.1, 0.5], "a list of increasing numbers from 0 to 1"),
        (
            "gi_intra_l0",
            "magnitudes",
            [0, float("nan")],
            "a list of increasing numbers from 0 to 1",
        ),
        ("gi_intra_l0", "magnitudes", [], "a list of increasing numbers from 0 to 1"),
        ("gi_intra_l0", "magnitudes", 0.5, "a list of increasing numbers from 0 to 1"),
    ],
)
def test_a_value_out_of_range_is_named(measure, option, value, expected):
    with pytest.raises(
        MeasureError,
        match=f"^{measure}: {option} is {re.escape(repr(value))}; expected {expected}$",
    ):
        complexity(measure, **{option: value})


def test_none_is_a_value_where_it_is_the_default():
    assert complexity("contre_gap", examples=None).options == {"examples": None}


def test_what_is_allowed_is_set():
    assert complexity("contre_gap", operations="Rotate, ShearX")
    assert complexity("contre_gap", operations=["Rotate"])
    assert complexity("gi_intra_l0", magnitudes=[0, 0.1, 0.5])
    assert complexity("-log_prod_of_spec", stride="ignored")


def test_options_of_a_users_measure_are_theirs():
    measure = Measure("mine", "", f"{__name__}:own_measure")
    options = {"steps": "many", "padding": 3, "noise": 0.1}
    assert measure.with_options(**options).options == options


def own_measure(subject, *, steps="few", padding=1, noise=0.0):
    return 0.0


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [("mixup", "batches", -3), ("log_sum_of_spec", "boundary", "wrongword")],
)
def test_a_run_with_a_wrong_option_never_starts(name, option, value, tmp_path: Path):
    class Executor:
        def run(self, jobs):
            raise AssertionError("work was handed out")

    (tmp_path / "zoo" / "t" / "model_0").mkdir(parents=True)
    (tmp_path / "zoo" / "t" / "dataset_1" / "train").mkdir(parents=True)
    (tmp_path / "zoo" / "t" / "model_0" / "config.json").write_text("{}")
    with pytest.raises(MeasureError, match=f"{name}: {option} is {value!r}"):
        evaluate(
            tmp_path / "zoo",
            [name],
            tmp_path / "out",
            options={option: value},
            executor=Executor(),
        )
    assert not (tmp_path / "out").exists()
