"""The leaderboard's numbers are those of SciPy, of the scoring program and of the run's records."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from report_runs import MODELS, FakeRun, write_predictions, write_records, write_run
from scipy import stats
from shared_data import PGDL

from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.kit.combined import combine_run
from scoring.kit.predictions import find_predictions
from scoring.kit.program import score_folders
from scoring.kit.reference import find_references, read_reference
from scoring.kit.results import write_results
from scoring.recorded_run import read_run
from scoring.report.explain import explained, most_explaining
from scoring.report.formats import to_csv, to_json, to_markdown
from scoring.report.leaderboard import Leaderboard, leaderboard
from scoring.report.notes import notes
from scoring.report.page import report_page
from scoring.report.published import ROWS, TASKS, published_scores


def test_numbers_are_those_of_scipy_and_of_the_score(fake: FakeRun, board: Leaderboard) -> None:
    for row in board.rows:
        for task, entry in row.entries.items():
            reference = read_reference(fake.reference / task / "model_configs.json")
            gap, values = reference.gap, fake.values[task][row.measure]
            assert entry.score == cmi(reference.codes, gap, values).score
            assert entry.kendall == pytest.approx(stats.kendalltau(gap, values).statistic)
            assert entry.spearman == pytest.approx(stats.spearmanr(gap, values).statistic)
            assert entry.seconds == pytest.approx(0.5 + np.mean(range(MODELS)))
            assert entry.interval.low <= entry.score <= entry.interval.high + 1e-9


def test_four_models_with_a_perfect_score_are_no_headline(tmp_path: Path) -> None:
    entries = {
        str(i): {
            "hparams": {"width": {"possible_values": [8, 16], "current_value": 8 + 8 * (i // 2)}},
            "metrics": {"train_acc": 1.0, "test_acc": 0.9 - i / 20},
        }
        for i in range(4)
    }
    (tmp_path / "reference/few").mkdir(parents=True)
    (tmp_path / "reference/few/model_configs.json").write_text(json.dumps(entries))
    write_predictions(tmp_path / "out/knows/few.predict", np.arange(4.0))
    found = leaderboard(tmp_path / "reference", tmp_path / "out", replicates=100)
    assert found.rows[0].entries["few"].score == pytest.approx(1)
    assert found.rows[0].entries["few"].interval is None
    assert any("few: 4 models are too few to compare measures" in note for note in notes(found))
    assert "Too few models to say which measure is best" in report_page(found, name="few")


def test_the_measure_that_knows_the_gap_is_first_with_100(board: Leaderboard) -> None:
    assert board.rows[0].measure == "knows"
    assert board.rows[0].scores.average == pytest.approx(100)
    averages = [row.scores.average for row in board.rows]
    assert averages == sorted(averages, reverse=True)


def test_json_and_csv_hold_the_numbers_of_scores_json(
    fake: FakeRun, board: Leaderboard, tmp_path: Path
) -> None:
    measures = {row["measure"]: row for row in json.loads(to_json(board))["measures"]}
    lines = list(csv.DictReader(io.StringIO(to_csv(board))))
    assert len(lines) == len(measures) * len(board.tasks)
    for measure, row in measures.items():
        write_results(score_folders(fake.reference, fake.out / measure), tmp_path / measure)
        scores = json.loads((tmp_path / measure / "scores.json").read_text())
        assert row["average"] == scores["task_average_score"]
        for task, numbers in row["tasks"].items():
            assert numbers["score"] == scores[f"task_{task}_score"]
            (line,) = (x for x in lines if (x["measure"], x["task"]) == (measure, task))
            assert float(line["score"]) == scores[f"task_{task}_score"]


def test_markdown_keeps_its_columns_whatever_the_names(board: Leaderboard) -> None:
    table = [line for line in to_markdown(board).splitlines() if line.startswith("|")]
    assert "&lt;b>odd & $x$" in "\n".join(table)
    assert {line.count("|") for line in table[:5]} == {len(board.tasks) + 6}


def test_a_measure_without_a_task_is_marked_and_stands_last(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run.out / "knows" / "beta.predict").unlink()
    board = leaderboard(run.reference, run.out, replicates=20)
    last = board.rows[-1]
    assert (last.measure, last.is_whole, last.tasks_scored) == ("knows", False, "1 of 2")
    assert "beta: no score for knows: no predictions" in notes(board)
    assert "knows \\*" in to_markdown(board)
    entry = json.loads(to_json(board))["measures"][-1]["tasks"]["beta"]
    assert (entry["score"], entry["reason"]) == (None, "no predictions")


def test_tasks_that_were_not_run_are_named(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    for path in run.out.glob("*/beta.predict"):
        path.unlink()
    board = leaderboard(run.reference, run.out, replicates=20)
    assert (board.tasks, board.not_run, board.has_one_task) == (("alpha",), ("beta",), False)
    assert notes(board)[0].endswith("no average covers all tasks: beta")
    assert not any(row.is_whole for row in board.rows)


def test_failed_models_and_missing_predictions_are_named(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    write_predictions(run.out / "guesses" / "alpha.predict", run.values["alpha"]["guesses"][:-1])
    failed = {"task": "alpha", "model": "model_11", "errors": {"guesses": "NaN outputs"}}
    write_records(run.out, [failed])
    found = notes(leaderboard(run.reference, run.out, replicates=20))
    assert "alpha: model_11 failed for guesses: NaN outputs" in found
    assert "alpha: no score for guesses: no prediction for model_11" in found


def test_each_measure_is_listed_with_its_own_reason(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    errors = {"guesses": "NaN outputs", "knows": "too slow"}
    write_records(run.out, [{"task": "alpha", "model": "model_11", "errors": errors}])
    found = notes(leaderboard(run.reference, run.out, replicates=20))
    assert "alpha: model_11 failed for guesses: NaN outputs" in found
    assert "alpha: model_11 failed for knows: too slow" in found


def test_where_no_score_is_defined_ranks_are(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    path = run.reference / "alpha" / "model_configs.json"
    models = {  # two hyperparameters, one model for each pair of values
        model: entry
        for model, entry in json.loads(path.read_text()).items()
        if entry["hparams"].pop("drop & <i>out</i>")["current_value"] == 0.0
    }
    path.write_text(json.dumps(models))
    gap = {f"model_{model}": run.gaps["alpha"][int(model)] for model in models}
    (run.out / "knows" / "alpha.predict").write_text(json.dumps(gap))
    board = leaderboard(run.reference, run.out, replicates=20)
    (row,) = (row for row in board.rows if row.measure == "knows")
    assert row.entries["alpha"].score is None
    assert row.entries["alpha"].kendall == pytest.approx(1)
    assert any("score of 6 models is undefined" in note for note in notes(board))


def test_a_constant_measure_has_a_score_but_no_correlation(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    write_predictions(run.out / "constant" / "alpha.predict", np.ones(MODELS))
    board = leaderboard(run.reference, run.out, replicates=20)
    (entry,) = (row.entries["alpha"] for row in board.rows if row.measure == "constant")
    assert (entry.score, entry.kendall, entry.spearman) == (0.0, None, None)


def test_measures_that_rank_backwards_are_named(board: Leaderboard) -> None:
    assert any("backwards" in note and "<b>odd & $x$" in note for note in notes(board))


def test_a_combination_of_values_that_are_no_more_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    name = combine_run(run.out, ["knows", "guesses"], "avg").name
    board = leaderboard(run.reference, run.out, replicates=20)
    assert len(board.rows) == 4 and not board.outdated
    write_predictions(run.out / "guesses" / "beta.predict", -run.values["beta"]["guesses"])
    board = leaderboard(run.reference, run.out, replicates=20)
    assert f"combined before its measures were run again: {name} (beta)" in notes(board)
    (run.out / "guesses" / "alpha.predict").unlink()
    board = leaderboard(run.reference, run.out, replicates=20)
    assert board.outdated == (f"{name} (alpha, beta)",)


def test_an_empty_folder_is_refused(fake: FakeRun, tmp_path: Path) -> None:
    with pytest.raises(ScoringError, match="has no predictions"):
        leaderboard(fake.reference, tmp_path)


def test_later_records_win_measure_by_measure(tmp_path: Path) -> None:
    first = {"task": "t", "model": "3", "seconds": {"a": 1, "b": 2}, "errors": {"a": "x", "c": "y"}}
    again = {"task": "t", "model": "model_3", "values": {"a": 5.0}, "seconds": {"a": 4}}
    write_records(tmp_path, [first, {"kind": "header"}, again])
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"task": "t", "mod')  # the run was killed here
    run = read_run(tmp_path)
    record = run.of_task("t")["model_3"]
    assert (record.seconds, record.errors) == ({"a": 4, "b": 2}, {"c": "y"})
    assert run.seconds_per_model("t", "a") == 4
    assert run.seconds_per_model("t", "none") is None
    assert len(run.problems) == 1 and "line 2, is damaged" in run.problems[0]


def test_curves_of_several_attempts_are_one(tmp_path: Path) -> None:
    def line(magnitudes: list[float], accuracy: list[float]) -> dict:
        curve = {"pairing": "intra", "layer": 1, "magnitudes": magnitudes, "accuracy": accuracy}
        return {"task": "t", "model": "model_0", "curves": [curve]}

    write_records(tmp_path, [line([0.0, 0.5], [1.0, 0.6]), line([0.25, 0.5], [0.9, 0.7])])
    curve = read_run(tmp_path).of_task("t")["model_0"].curves["intra-class mixup at layer 1"]
    assert (curve.magnitudes, curve.accuracy) == ((0.0, 0.25, 0.5), (1.0, 0.9, 0.7))


def test_width_explains_what_it_made(fake: FakeRun) -> None:
    reference = read_reference(fake.reference / "alpha" / "model_configs.json")
    grouped = [reference.gap[reference.codes[:, 0] == code] for code in range(3)]
    between = sum(len(g) * (g.mean() - reference.gap.mean()) ** 2 for g in grouped)
    total = np.sum((reference.gap - reference.gap.mean()) ** 2)
    assert explained(reference)["width"] == pytest.approx(between / total)
    assert most_explaining(reference) == max(explained(reference), key=explained(reference).get)


def test_published_rows_have_their_published_average() -> None:
    for row in ROWS:
        assert len(row.scores) == len(TASKS) == 8
        if None not in row.scores:
            assert np.mean(row.scores) == pytest.approx(row.average, abs=0.0101)


def test_real_predictions_have_their_published_scores() -> None:
    data = PGDL
    published = json.loads((data / "published_scores.json").read_text())
    board = leaderboard(data / "reference_data", data / "predictions", replicates=20)
    content = {row["measure"]: row for row in json.loads(to_json(board))["measures"]}
    assert set(content) == set(published)
    for measure, scores in published.items():
        assert content[measure]["average"] == pytest.approx(scores["task_average_score"], abs=1e-11)
        for task in find_predictions(data / "predictions" / measure):
            assert content[measure]["tasks"][task]["score"] == scores[task]


def test_competition_tasks_are_told_by_name_and_size(fake: FakeRun) -> None:
    files = find_references(PGDL / "reference_data")
    assert published_scores(read_reference(files["task1_v4"], "task1_v4"))["gi_intra_l0"] == 0.84
    assert published_scores(read_reference(files["task2_v1"], "task2_v1"))["gi_intra_l0"] == 41.75
    other = read_reference(fake.reference / "alpha" / "model_configs.json", "task1_v4")
    assert published_scores(other) == {}
