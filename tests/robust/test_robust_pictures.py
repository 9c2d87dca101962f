"""`pgdl study robust`, the list of failing environments, and the CSV as the authors read it."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from scoring.errors import ScoringError
from scoring.report.robust_figures import environments_left, filtering_effect
from scoring.robust.evaluation import evaluate
from scoring.robust.failing import failing_environments
from scoring.robust.oracle_rows import oracle_rows
from scoring.robust.runs import read_csv
from starting_kit_adapter.cli import main

LRS, DEPTHS, DATA, SEEDS = (0.01, 0.0316228, 0.1), (2, 4), ("cifar10", "svhn"), 5


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of three learning rates, two depths and two data sets, in the authors' columns."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("runs") / "runs.csv"
    header = ["hp.lr", "hp.model_depth", "hp.dataset", "hp.train_dataset_size"]
    header += ["train_dataset_size", "gen.gap", "is.converged", "seconds"]
    header += ["complexity.good", "complexity.spec", "complexity.spec_fft"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for lr, depth, data in itertools.product(LRS, DEPTHS, DATA):
            for seed in range(SEEDS):
                gap = 0.2 + lr + 0.03 * depth - 0.1 * (data == "svhn") + rng.normal(0, 0.005)
                noisy = gap + rng.normal(0, 0.08)
                jitter = lr + 1e-6 * (seed % 2)  # the same learning rate on another machine
                cell = [jitter, depth, data, 7, 50000]
                writer.writerow([*cell, gap, True, 1.0, gap, np.inf if seed == 0 else 1.0, noisy])
        writer.writerow([0.1, 2, "svhn", 7, 50000, 0.2, True, "", 1, 1, 1])
        writer.writerow([0.1, 2, "svhn", 7, 50000, 0.2, False, 1.0, 1, 1, 1])
    return path


def test_a_csv_is_read_as_the_authors_load_it(table: Path) -> None:
    runs = read_csv(table)
    assert runs.hparams == ("lr", "model_depth", "dataset", "train_size")
    assert runs.values == ((0.01, 0.0316, 0.1), (2, 4), ("cifar10", "svhn"), (50000,))
    assert list(runs.measures) == ["good", "spec_fft"]
    assert len(runs.gap) == 12 * (SEEDS - 1)  # an infinite value of any column costs its row
    assert len(runs.left_out) == 2


def test_runs_of_one_data_set(table: Path) -> None:
    runs = read_csv(table).where("dataset", "svhn")
    assert runs.hparams == ("lr", "model_depth", "train_size")
    assert len(runs.gap) == 6 * (SEEDS - 1)
    with pytest.raises(ScoringError, match="dataset of runs is never 'mnist': cifar10, svhn"):
        read_csv(table).where("dataset", "mnist")
    with pytest.raises(ScoringError, match="no hyperparameter 'width'"):
        read_csv(table).where("width", "1")


def test_failing_environments_are_those_of_a_loop_over_pairs_of_runs(table: Path) -> None:
    runs = read_csv(table)
    found = evaluate(runs, test_size=10**6)
    values = runs.measures["spec_fft"]
    expected = {}
    cells = sorted(set(map(tuple, runs.codes.tolist())))
    for one, other in itertools.combinations(cells, 2):
        differ = [k for k in range(len(one)) if one[k] != other[k]]
        if len(differ) != 1:
            continue
        sides = [np.flatnonzero((runs.codes == cell).all(axis=1)) for cell in (one, other)]
        wrong = [
            (1 - np.sign(runs.gap[j] - runs.gap[i]) * np.sign(values[j] - values[i])) / 2
            for i in sides[0]
            for j in sides[1]
        ]
        # With a million test examples every pair of runs has nearly the same weight.
        rest = {runs.hparams[k]: runs.values[k][one[k]] for k in range(4) if k != differ[0]}
        key = (
            runs.hparams[differ[0]],
            *(runs.values[differ[0]][c[differ[0]]] for c in (one, other)),
        )
        expected[key, tuple(rest.items())] = np.mean(wrong)
    listed = failing_environments(found, "spec_fft", above=0.0)
    for failure in listed:
        key = (failure.hparam, failure.low, failure.high), tuple(failure.others.items())
        assert failure.sign_error == pytest.approx(expected[key], abs=0.1)
    errors = [failure.sign_error for failure in listed]
    assert errors and errors == sorted(errors, reverse=True)
    assert failing_environments(found, "good") == ()


def test_rows_of_oracles_are_fitted_to_their_own_environments(table: Path) -> None:
    runs = read_csv(table)
    measure = runs.measures["spec_fft"]
    for family in ("one varies", "one fixed"):
        rows = {row.name: row for row in oracle_rows(runs, family)}
        assert list(rows) == ["all", "lr", "model_depth", "dataset"]
        for k, name in enumerate(("lr", "model_depth", "dataset")):
            keys = (
                np.delete(runs.codes, k, axis=1) if family == "one varies" else runs.codes[:, [k]]
            )
            groups = [np.flatnonzero((keys == key).all(axis=1)) for key in np.unique(keys, axis=0)]

            def worst(ab, groups=groups):
                residual = ab[0] * measure + ab[1] - runs.gap
                return max(np.sqrt(np.mean(residual[g] ** 2)) for g in groups) + 99 * max(0, -ab[0])

            exact = {"xatol": 1e-9, "fatol": 1e-12}
            starts = ((0.0, 0.2), (0.5, 0.1), (1.0, 0.0))
            found = [minimize(worst, s, method="Nelder-Mead", options=exact).fun for s in starts]
            searched = min(found)
            assert rows[name].fits[1].robust <= searched * (1 + 1e-6)
            assert rows[name].fits[1].robust == pytest.approx(searched, rel=1e-2)


def test_figures_3_and_4_count_what_they_say(table: Path) -> None:
    found = evaluate(read_csv(table))
    left = environments_left(found, (1, 12))
    n_eff = found.filtered.n_eff[found.filtered.hparam == 0]
    assert left["lr"] == [2 * int((n_eff >= 1).sum()), 2 * int((n_eff >= 12 - 1e-9).sum())]
    effect = filtering_effect(found, "max")
    for k, measure in enumerate(found.measures):
        expected = np.nanmax(found.filtered.errors[k]) - np.nanmax(found.unfiltered.errors[k])
        assert effect[measure] == pytest.approx(expected)


@pytest.mark.filterwarnings("error:constrained_layout not applied")  # axes of no size
def test_the_study_writes_every_figure_and_the_report_a_page(table: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ["study", "robust", str(table), "-o", str(tmp_path), "--test-size", "1000000"]
    assert main.main(main.make_parser().parse_args(words)) == 0
    folder = tmp_path / "robust" / "runs"
    for number in (1, 3, 4, 5, 6, 7, 11):
        assert (folder / f"figure{number}.svg").stat().st_size > 1000
    assert (folder / "figure2_lr.png").is_file()
    numbers = json.loads((folder / "table.json").read_text())
    assert set(numbers["robust_rmse_refitted"]["one varies"]) == {
        *("all", "lr", "model_depth", "dataset")
    }
    lines = list(csv.DictReader((folder / "failing.csv").open()))
    assert all(float(line["sign_error"]) > 0.5 for line in lines)
    page = tmp_path / "page.html"
    words = ["report", "--csv", str(table), "-o", str(page), "--test-size", "1000000"]
    assert main.main(main.make_parser().parse_args(words)) == 0
    assert "smallest mean sign-error is <strong>good</strong>" in page.read_text()
