"""The six rules against scikit-learn, SciPy and hand computation; combinations as files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from robust_runs import random_runs, write_predictions, write_zoo
from verbs import run_verb

from scoring.combine import RULES, combination_name, combine, is_monotone
from scoring.errors import ScoringError
from scoring.kit.combined import combine_run
from scoring.kit.program import score_folders
from starting_kit_adapter.cli import combine as verb
from starting_kit_adapter.cli import table


def correlated(measures: int = 3, models: int = 40, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** np.arange(measures)[:, None]
    return (rng.normal(size=models) + 0.5 * rng.normal(size=(measures, models))) * scale + 2


@pytest.mark.parametrize("rule", ["pca", "npca"])
@pytest.mark.parametrize("measures", [2, 3, 5])
def test_pca_is_that_of_scikit_learn(rule: str, measures: int) -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    values = correlated(measures)
    given = values.T
    if rule == "npca":
        given = (given - given.mean(axis=0)) / given.std(axis=0)
    expected = decomposition.PCA(n_components=1).fit_transform(given)[:, 0]
    found = combine(rule, values)
    assert found * np.sign(found @ expected) == pytest.approx(expected)
    assert np.corrcoef(found, given.sum(axis=1))[0, 1] > 0


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("avg", [2.5, 1.0, 3.0]),
        ("prod", [4.0, 1.0, 5.0]),
        ("prod_avg", [6.5, 2.0, 8.0]),
        ("avg_rank", [2.25, 1.5, 2.25]),  # of (1.5, 1.5, 3) and (3, 1.5, 1.5)
    ],
)
def test_two_measures_by_hand(rule: str, expected: list[float]) -> None:
    values = [[1.0, 1.0, 5.0], [4.0, 1.0, 1.0]]
    assert combine(rule, values).tolist() == pytest.approx(expected)


def test_pca_of_a_line_is_the_position_on_it() -> None:
    found = combine("pca", [[0.0, 3.0, 6.0], [0.0, 4.0, 8.0]])
    assert found == pytest.approx([-5.0, 0.0, 5.0])


def test_npca_does_not_see_scales_and_pca_does() -> None:
    values = correlated(2)
    scaled = values * [[1000.0], [1.0]]
    assert combine("npca", scaled) == pytest.approx(combine("npca", values))
    assert np.corrcoef(combine("pca", scaled), values[0])[0, 1] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("rule", ["prod", "prod_avg"])
def test_negated_scores_combine_as_raw_ones_reversed(rule: str) -> None:
    pal = np.random.default_rng(0).uniform(0.1, 6, (2, 30))  # the paper's values
    raw = pal.prod(axis=0) + (pal.mean(axis=0) if rule == "prod_avg" else 0)
    assert combine(rule, -pal) == pytest.approx(-raw)
    assert is_monotone(rule, -pal) and is_monotone(rule, pal)
    assert not is_monotone(rule, pal * [[1], [-1]])


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_keeps_the_orientation(rule: str) -> None:
    rng = np.random.default_rng(1)
    gap = rng.uniform(0.1, 1, 50)
    rising = np.stack([gap, 2 * gap**2])
    assert np.all(np.diff(combine(rule, rising)[np.argsort(gap)]) > 0)
    falling = np.stack([gap - 3, 2 * gap**2 - 7])  # the same, with negative values
    assert np.all(np.diff(combine(rule, falling)[np.argsort(gap)]) > 0)


def test_measures_that_disagree_are_oriented_by_the_first() -> None:
    x = np.array([1.0, 2.0, 4.0])
    found = combine("npca", [x, -x])
    assert found[0] < found[1] < found[2]


@pytest.mark.parametrize(
    ("rule", "values", "message"),
    [
        ("sum", [[1.0], [2.0]], "no rule 'sum'; there are pca, npca"),
        ("avg", [[1.0, 2.0]], "takes two measures or more"),
        ("npca", [[1.0, 2.0], [3.0, 3.0]], "measure number 1 is constant"),
        ("prod", [[1e200, 1.0], [1e200, 1.0]], "not finite"),
    ],
)
def test_what_cannot_be_combined_says_so(rule: str, values: list, message: str) -> None:
    with pytest.raises(ScoringError, match=message):
        combine(rule, values)


def run(*arguments: object) -> int:
    return run_verb(verb, *arguments)


def test_the_verb_writes_a_measure_that_can_be_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = random_runs()
    reference, out = write_zoo(tmp_path, runs)
    assert run(out, "-m", "good, blind", "--rule", "avg_rank") == 0
    folder = out / "avg_rank-blind-good"
    assert capsys.readouterr().out == f"wrote {folder / 'made_up.predict'}\n"
    content = json.loads((folder / "made_up.predict").read_text())
    expected = combine("avg_rank", [runs.measures["blind"], runs.measures["good"]])
    assert list(content.values()) == expected.tolist()
    assert score_folders(reference, folder).scored

    assert run(out, "-m", "blind,good", "--rule", "avg_rank", "-o", tmp_path / "other") == 0
    assert (tmp_path / "other" / folder.name / "made_up.predict").is_file()


def test_a_combination_stands_in_the_table_beside_its_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference, out = write_zoo(tmp_path, random_runs())
    assert run(out, "-m", "good,blind", "--rule", "avg_rank") == 0
    capsys.readouterr()
    assert run_verb(table, out, "--reference", reference, "--format", "json") == 0
    rows = {row["measure"]: row for row in json.loads(capsys.readouterr().out)["measures"]}
    assert set(rows) == {"good", "coarse", "blind", "avg_rank-blind-good"}
    (expected,) = score_folders(reference, out / "avg_rank-blind-good").scored
    found = rows["avg_rank-blind-good"]["tasks"]["made_up"]["score"]
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_help_names_every_rule_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    described = [line.split()[0] for line in verb.EXAMPLES.splitlines() if line.startswith("  ")]
    assert [rule for rule in described if rule in RULES] == list(RULES)
    for measure in "ab":
        write_predictions(tmp_path / measure / "one.predict", np.arange(3.0))
    with pytest.raises(ScoringError, match="no rule 'sum'; there are pca, npca"):
        run(tmp_path, "-m", "a,b", "--rule", "sum")


def test_a_combination_is_named_alike_in_any_order() -> None:
    assert combination_name("pca", ["b", "a"]) == "pca-a-b"


def test_a_task_that_cannot_be_combined_has_no_file_and_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for task in ("one", "two", "three"):
        write_predictions(tmp_path / "a" / f"{task}.predict", np.arange(3.0) - 1)
        write_predictions(tmp_path / "b" / f"{task}.predict", np.arange(3.0))
    write_predictions(tmp_path / "b" / "two.predict", np.arange(2.0))
    (tmp_path / "b" / "three.predict").write_text(
        '{"model_0": 1, "model_1": 2, "model_2": "EXCEEDED"}'
    )
    stale = tmp_path / "prod-a-b" / "two.predict"
    write_predictions(stale, np.arange(3.0))
    assert run(tmp_path, "-m", "a,b", "--rule", "prod") == 1
    assert not stale.exists()
    assert (tmp_path / "prod-a-b" / "one.predict").exists()
    said = capsys.readouterr().out
    assert "not of the same models: model_2" in said
    assert "time budget exceeded at model_2" in said
    assert "one: a product of values of both signs does not grow" in said


def test_an_unknown_measure_is_met_with_a_near_one(tmp_path: Path) -> None:
    write_predictions(tmp_path / "gi_intra_l0" / "one.predict", np.arange(3.0))
    with pytest.raises(ScoringError, match="did you mean gi_intra_l0"):
        combine_run(tmp_path, ["gi_intra_0", "gi_intra_l0"], "avg")
    with pytest.raises(ScoringError, match="takes two measures or more, not 'a,a'"):
        run(tmp_path, "-m", "a,a", "--rule", "avg")
