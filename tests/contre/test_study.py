"""`pgdl study contre`: complete, resumable, and honest about what is undefined."""

from __future__ import annotations

import csv
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from corpora import dataset, write_task
from scipy import stats
from verbs import run_verb

import pgdl_measures
from ingestion.datasets.shards import read_data
from ingestion.model_files.models import load_model
from pgdl_measures.errors import PgdlError
from pgdl_measures.perturbations.operations import SINGLE
from scoring.kit.reference import Reference
from starting_kit_adapter.cli import study
from starting_kit_adapter.studies.contre import settings
from starting_kit_adapter.studies.contre.correlations import (
    correlate,
    side_by_side,
    to_csv,
    to_text,
)
from starting_kit_adapter.studies.contre.plots import save_figure, save_scatter, save_tasks


def pgdl_study(*arguments: str) -> int:
    return run_verb(study, *arguments)


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).resolve().parents[2])]))
    return write_task(tmp_path / "zoo" / "small", shape=(8, 8, 3), count=90).parent


def test_the_settings_are_those_of_the_paper():
    assert tuple(settings.TRANSFORMATIONS.values()) == tuple(SINGLE)
    sizes = {grid.name: len(grid.cells) for grid in settings.grids(settings.PARTS, seed=0)}
    assert sizes == {
        "transformations": 12,
        "ablation": 12,
        "singles": 17,
        "pairs": 136,
        "spoiling": 1,
    }
    # Contre itself is in three grids and single operations are in two, but computed once.
    assert len(settings.measures(settings.grids(settings.PARTS))) == 12 + 11 + 16 + 120


def test_the_tables_of_a_small_zoo_are_written_and_a_second_run_computes_nothing(
    zoo, tmp_path, capsys
):
    out = tmp_path / "out"
    command = ["contre", str(zoo), "-o", str(out), "--parts", "ablation"]
    quick = ["--examples", "50", "--workers", "1"]
    assert pgdl_study(*command, *quick) == 0
    assert "6 models computed now" in capsys.readouterr().out
    folder = out / "contre" / "small"
    files = {f"ablation.{suffix}" for suffix in ("txt", "csv", "svg", "png")}
    assert {path.name for path in folder.iterdir()} == files | {"study.json"}
    first = (folder / "study.json").read_text()
    assert pgdl_study(*command, *quick) == 0
    assert "0 models computed now" in capsys.readouterr().out
    assert (folder / "study.json").read_text() == first

    # The correlation is that of the predictions with the test accuracies.
    values = json.loads((out / "accuracy_n3_m9" / "small.predict").read_text())
    reference = json.loads((zoo / "small" / "model_configs.json").read_text())
    pairs = [(m["metrics"]["test_acc"], -values[f"model_{i}"]) for i, m in reference.items()]
    expected = stats.spearmanr(*zip(*pairs))[0]
    with (folder / "ablation.csv").open() as file:
        row = next(r for r in csv.DictReader(file) if (r["row"], r["column"]) == ("M=9", "N=3"))
    assert float(row["spearman"]) == pytest.approx(expected)
    assert row["partial_spearman"] == ""  # all training accuracies are 1 in this zoo
    assert "undefined" in (folder / "ablation.txt").read_text()


def test_a_wrong_part_and_a_zoo_without_accuracies_are_refused(zoo, tmp_path):
    with pytest.raises(PgdlError, match="unknown part 'pair'; did you mean pairs"):
        pgdl_study("contre", str(zoo), "-o", str(tmp_path), "--parts", "pair")
    (zoo / "small" / "model_configs.json").unlink()
    with pytest.raises(PgdlError, match=r"task small has no model_configs\.json"):
        pgdl_study("contre", str(zoo), "-o", str(tmp_path))


def test_every_part_is_drawn(tmp_path):
    rng = np.random.default_rng(0)
    ids = tuple(f"model_{i}" for i in range(12))
    accuracies = rng.random((2, 12))
    reference = Reference("t", ids, (), (), np.zeros((12, 0), int), *accuracies)
    for grid in settings.grids(settings.PARTS):
        values = {m.name: dict(zip(ids, rng.normal(size=12))) for m in grid.cells.values()}
        found = correlate(grid, reference, values)
        assert all(-1 <= value <= 1 for value in found.spearman.values())
        for path in save_figure(found, tmp_path / grid.name):
            assert path.stat().st_size > 5000
        assert to_csv(found).count("\n") == len(grid.cells) + 1
        assert grid.title in to_text(found)


def test_transformed_test_images_are_compared_with_transformed_training_images(
    zoo, tmp_path, capsys
):
    out = tmp_path / "out"
    command = ["contre", str(zoo), "-o", str(out), "--parts", "spoiling"]
    quick = ["--examples", "50", "--workers", "1"]
    assert pgdl_study(*command, *quick) == 0
    said = capsys.readouterr().out
    folder = out / "contre" / "small"
    found = json.loads((folder / "study.json").read_text())["spoiling"]
    values = json.loads((out / "contre/on_test_images/accuracy_n2_m20/small.predict").read_text())
    accuracies = {model: -value for model, value in values.items()}
    train = json.loads((out / "accuracy_n2_m20" / "small.predict").read_text())
    models = list(accuracies)
    expected = stats.spearmanr([-train[m] for m in models], [accuracies[m] for m in models])[0]
    assert found == {"correlation": pytest.approx(expected), "models": 6}
    assert f"correlation {expected:.3f} over 6 models" in said
    assert said.count("6 models computed now") == 2
    assert pgdl_study(*command, *quick) == 0
    assert capsys.readouterr().out.count("0 models computed now") == 2  # it resumes both

    # The accuracy is that of the measure where the test images are the training images.
    stored = read_data(zoo / "small").test
    test = dataset(stored.images, stored.labels)
    model = load_model(zoo / "small" / "model_3")
    measure = pgdl_measures.complexity("contre_accuracy", examples=50, seed=0)
    assert accuracies["model_3"] == -measure(model, test)

    shutil.rmtree(zoo / "small/dataset_1/test")
    assert pgdl_study(*command, *quick) == 0
    assert "no check of transformed test images" in capsys.readouterr().out


def test_several_tasks_are_the_columns_of_one_table():
    rng = np.random.default_rng(0)
    ids = tuple(f"model_{i}" for i in range(12))
    (grid,) = settings.grids(["transformations"])
    found = {}
    for task in ("cifar10", "cifar100"):
        reference = Reference(task, ids, (), (), np.zeros((12, 0), int), *rng.random((2, 12)))
        values = {m.name: dict(zip(ids, rng.normal(size=12))) for m in grid.cells.values()}
        found[task] = correlate(grid, reference, values)
    lines = [line.split() for line in side_by_side(found).splitlines()]
    assert ["accuracy,", "Spearman", "cifar10", "cifar100"] in lines
    assert ["Fisher", "ratio,", "partial", "cifar10", "cifar100"] in lines
    contre = [f"{part.spearman['ContRE', 'accuracy']:.4f}" for part in found.values()]
    assert ["ContRE", *contre] in lines


def test_a_dot_per_model_is_drawn(tmp_path):
    rng = np.random.default_rng(0)
    ids = tuple(f"model_{i}" for i in range(12))
    (grid,) = settings.grids(["transformations"])
    reference = Reference("t", ids, (), (), np.zeros((12, 0), int), *rng.random((2, 12)))
    values = {m.name: dict(zip(ids, rng.normal(size=12))) for m in grid.cells.values()}
    found = correlate(grid, reference, values)
    svg, _ = save_scatter(found, "Fisher ratio", tmp_path / "figure6")
    assert svg.read_text().count("PathCollection_") == len(grid.rows)
    np.testing.assert_array_equal(found.test, reference.test_acc)


def test_originals_are_the_training_accuracy_as_center_crop_is_on_cifar(zoo):
    # Wu et al. 2021, footnote 5: "Center Crop" is taken as training accuracy, so eq. 2 has none.
    (grid,) = settings.grids(["transformations"])
    measure = grid.cells["Originals", "accuracy"]
    stored, model = read_data(zoo / "small").train, load_model(zoo / "small" / "model_3")
    hits = np.argmax(model.predict(stored.images, verbose=0), axis=1) == stored.labels
    assert -measure(model, dataset(stored.images, stored.labels)) == pytest.approx(hits.mean())


def test_a_column_that_most_models_lack_leaves_the_others_whole():
    (grid,) = settings.grids(["transformations"], seed=0)
    ids = tuple(f"model_{i}" for i in range(6))
    accuracy = np.linspace(0.5, 0.7, 6)
    codes = np.arange(6).reshape(6, 1)
    values = (tuple(range(6)),)
    reference = Reference("t", ids, ("h",), values, codes, np.ones(6), accuracy)
    found = {
        measure.name: dict(zip(ids[: 2 if column == "Fisher ratio" else 6], -accuracy))
        for (_, column), measure in grid.cells.items()
    }
    part = correlate(grid, reference, found)
    assert (part.models, part.grid.columns, part.left_out) == (6, ("accuracy",), ("Fisher ratio",))
    assert "most of the models have no value: Fisher ratio" in to_text(part)
    whole = {name: dict(zip(ids, -accuracy)) for name in found}
    both = {"branched": part, "chain": correlate(grid, reference, whole)}
    assert "Fisher ratio, Spearman" in side_by_side(both)


def test_architectures_have_marks_and_several_tasks_stand_side_by_side(tmp_path):
    rng = np.random.default_rng(0)
    ids = tuple(f"model_{i}" for i in range(12))
    (grid,) = settings.grids(["transformations"])
    names = ("vgg11_bn", "resnet18", "mnasnet", "mobilenet")
    found = {}
    for task in ("wu-hyperparameters", "wu-subset", "wu-randaugment"):
        codes = rng.permutation(12).reshape(12, 1) % 4
        reference = Reference(task, ids, ("architecture",), (names,), codes, *rng.random((2, 12)))
        values = {m.name: dict(zip(ids, rng.normal(size=12))) for m in grid.cells.values()}
        found[task] = correlate(grid, reference, values)
        assert found[task].architectures == tuple(names[code] for (code,) in codes)
    svg, _ = save_scatter(found["wu-subset"], "accuracy", tmp_path / "figure2")
    assert svg.read_text().count("PathCollection_") >= 4 * len(grid.rows)
    assert all(f"<!-- {name} -->" in svg.read_text() for name in names)
    svg, _ = save_tasks(found, tmp_path / "figure5")
    assert svg.read_text().count("PathCollection_") == 3 * 4 + 4  # and those of one legend
    assert all(svg.read_text().count(f"<!-- {name} -->") == 1 for name in names)
    header, _, table_3 = side_by_side(found).partition("\n\n")
    assert header.endswith("models: wu-hyperparameters 12, wu-subset 12, wu-randaugment 12")
    assert table_3.split("\n")[0].split() == ["accuracy,", "Spearman", *found]
    assert "no such setting" not in table_3
