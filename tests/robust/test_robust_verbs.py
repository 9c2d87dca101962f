"""`pgdl table --robust` and the robust part of the report: numbers, sources, notes, figures."""

from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from robust_runs import random_runs, write_csv, write_zoo
from verbs import run_verb

from scoring.errors import ScoringError
from scoring.rank import granulated, kendall
from scoring.robust.evaluation import evaluate, records
from scoring.robust.precision import examples_behind_gaps
from starting_kit_adapter.cli import report, table
from starting_kit_adapter.studies import robust as study

Verb = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Verb:
    def call(verb: ModuleType, *arguments: object) -> tuple[int, str]:
        code = run_verb(verb, *arguments)
        return code, capsys.readouterr().out

    return call


@pytest.fixture
def zoo(tmp_path: Path) -> tuple[Path, Path]:
    return write_zoo(tmp_path, random_runs(repeats=5))


def test_the_table_has_the_numbers_of_the_evaluation(run: Verb, zoo: tuple[Path, Path]) -> None:
    reference, out = zoo
    arguments = (out, "--reference", reference, "--robust", "--test-size", 4000, "--format")
    runs = random_runs(repeats=5)
    found = evaluate(runs, test_size=4000)
    code, text = run(table, *arguments, "json")
    content = json.loads(text)
    assert code == 0
    numbers = content["robust"]["made_up"]
    assert numbers["test_size"] == 4000 and numbers["min_effective"] == 12
    ours = {row["measure"]: row["tasks"]["made_up"] for row in content["measures"]}
    lines = csv.DictReader(io.StringIO(run(table, *arguments, "csv")[1]))
    by_measure = {line["measure"]: line for line in lines}
    for record in records(found):
        if (record.quantity, record.family) == ("sign-error", "all"):
            entry = ours[record.measure]
            assert entry["sign_error"] == pytest.approx(record.summary.maximum)
            assert entry["sign_error_mean"] == pytest.approx(record.summary.mean)
            line = by_measure[record.measure]
            assert float(line["sign_error_90"]) == pytest.approx(record.summary.percentile_90)
    for measure, values in runs.measures.items():
        psi = granulated(runs.codes, runs.gap, values).psi
        assert ours[measure]["psi"] == pytest.approx(psi)
        tau = numbers["measures"][measure]["kendall"]
        assert tau == pytest.approx(kendall(runs.gap, values))


def test_a_csv_of_runs_is_the_same_evaluation(
    run: Verb, zoo: tuple[Path, Path], tmp_path: Path
) -> None:
    reference, out = zoo
    path = write_csv(tmp_path / "made_up.csv", random_runs(repeats=5))
    text = run(table, "--csv", path, "--robust", "--format", "json")[1]
    task = run(table, out, "--reference", reference, "--robust", "--format", "json")[1]
    found, expected = (
        {_key(record): record for record in content["records"]}
        for content in (json.loads(text), json.loads(task)["robust"]["made_up"])
    )
    assert found.keys() == expected.keys()
    for key, record in expected.items():
        assert found[key]["kept"] == record["kept"]
        if record["kept"]:
            assert found[key]["maximum"] == pytest.approx(record["maximum"], rel=1e-6, abs=1e-12)


def test_measures_of_a_csv_are_chosen_and_negated(run: Verb, tmp_path: Path) -> None:
    runs = random_runs(repeats=5)
    path = write_csv(tmp_path / "runs.csv", runs)
    chosen = "--measures=blind,-good"
    text = run(table, "--csv", path, "--robust", "--format", "json", chosen)[1]
    assert {record["measure"] for record in json.loads(text)["records"]} == {"blind", "-good"}
    assert run(study, path, chosen, "-o", tmp_path / "out")[0] == 0
    content = json.loads((tmp_path / "out" / "robust" / "runs" / "table.json").read_text())
    tau = content["measures"]["-good"]["kendall"]
    assert tau == pytest.approx(-kendall(runs.gap, runs.measures["good"]))
    with pytest.raises(ScoringError, match=r"no measure 'goof': did you mean good\?"):
        run(table, "--csv", path, "--robust", "--measures", "goof")


def _key(record: dict) -> tuple:
    """What a record is of; the values of lr stand in another order in the reference."""
    pair = sorted([str(record["low"]), str(record["high"])])
    return (record["measure"], record["quantity"], record["family"], *pair)


@pytest.mark.parametrize("form", ["text", "markdown", "csv"])
def test_every_format_of_a_csv(run: Verb, tmp_path: Path, form: str) -> None:
    path = write_csv(tmp_path / "runs.csv", random_runs(repeats=5))
    code, text = run(table, "--csv", path, "--robust", "--format", form)
    assert code == 0 and "good" in text
    assert (
        "rmse affine" in text
        if form == "csv"
        else "sign-error over" in text and "(no measure)" in text
    )


def test_too_few_runs_show_the_weaker_family_and_say_so(run: Verb, tmp_path: Path) -> None:
    reference, out = write_zoo(tmp_path, random_runs(repeats=2))
    text = run(table, out, "--reference", reference, "--robust")[1]
    assert "weaker sign-error: max" in text
    assert "no environment has n_eff >= 12 (Dziugaite et al. 2020, App. A.1)" in text
    assert "pairs of runs 4 at most" in text
    assert "the size of its test set is not known; taken to be 10,000" in text
    arguments = ("--robust", "--test-size", 10000, "--min-effective", 2)
    text = run(table, out, "--reference", reference, *arguments)[1]
    assert "weaker sign-error: max" not in text and "is not known" not in text


@pytest.mark.parametrize("here", ["reference", "reference/made_up"])
def test_the_reference_may_be_named_from_where_it_is(
    run: Verb, zoo: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, here: str
) -> None:
    reference, out = zoo
    folder = out.parent / "input_data" / "made_up" / "dataset_1" / "test"
    folder.mkdir(parents=True)
    (folder / "shard_0.tfrecord").write_bytes(struct.pack("<QI", 0, 0) + bytes(4))
    monkeypatch.chdir(out.parent / here)
    name = "." if here == "reference" else ".."
    assert examples_behind_gaps(name) == examples_behind_gaps(reference) == {"made_up": 1}
    assert run(table, out, "--robust", "--reference", name)[0] == 0


def test_the_corpus_says_how_many_examples_are_behind_a_gap(zoo: tuple[Path, Path]) -> None:
    reference, _ = zoo
    assert examples_behind_gaps(reference) == {}
    folder = reference / "made_up" / "dataset_1" / "test"
    folder.mkdir(parents=True)
    for number, records_in_shard in enumerate((3, 0, 4)):
        frames = [struct.pack("<QI", n, 0) + bytes(n + 4) for n in range(records_in_shard)]
        (folder / f"shard_{number}.tfrecord").write_bytes(b"".join(frames))
    assert examples_behind_gaps(reference) == {"made_up": 7}
    cut = folder / "shard_0.tfrecord"
    cut.write_bytes(cut.read_bytes()[:-1])
    with pytest.raises(ScoringError, match="is cut off or damaged in record 2"):
        examples_behind_gaps(reference)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give either OUT or --csv FILE"),
        (("out", "--csv", "runs.csv"), "give either OUT or --csv FILE"),
        (("--csv", "runs.csv"), "only evaluated with --robust"),
    ],
)
def test_arguments_that_say_too_much_or_too_little(
    run: Verb, arguments: tuple, message: str
) -> None:
    with pytest.raises(ScoringError, match=message):
        run(table, *arguments)


def test_a_grid_without_environments_is_a_note(run: Verb, tmp_path: Path) -> None:
    runs = random_runs(repeats=2)
    runs.codes[:] = np.repeat([[0, 0, 0], [1, 1, 1], [2, 0, 1]], 8, axis=0)
    reference, out = write_zoo(tmp_path, runs)
    text = run(table, out, "--reference", reference, "--robust")[1]
    assert "made_up: no robust evaluation: there is no environment" in text


@pytest.mark.parametrize("repeats", [2, 5])
def test_the_report_shows_bars_and_triangles(run: Verb, tmp_path: Path, repeats: int) -> None:
    pytest.importorskip("matplotlib")
    reference, out = write_zoo(tmp_path, random_runs(repeats=repeats))
    page = tmp_path / "report.html"
    assert run(report, out, "--reference", reference, "-o", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "In the worst environment" in text
    assert "sign-errors of 3 measures over all environments" in text
    assert "by pairs of values of depth" in text and "by pairs of values of width" not in text
    assert ("appendix D.3" in text) == (repeats == 2)
    assert "robust RMSE" in text
