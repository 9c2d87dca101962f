"""`pgdl overfit` from models to text, JSON and figures; which images it takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from runs import pgdl_overfit, stripes, write_npz

from pgdl_measures.adversarial.generators import GENERATORS
from pgdl_measures.errors import PgdlError
from starting_kit_adapter.diagnose.overfit.sets import Origin, choose_sets, find_origin, notes


@pytest.fixture
def models(rescaled_zoo: Path) -> Path:
    return rescaled_zoo / "input_data/stripes"


def test_one_model_on_its_test_set(models, source, capsys):
    assert pgdl_overfit(models / "model_1", "--data", source, "--eps", 1) == 0
    text = capsys.readouterr().out
    assert "The test set is the 45 images that the zoo of these models used." in text
    assert "test set, 45 images" in text and "train set" not in text
    assert all(name in text for name in GENERATORS)
    assert "this model" in text.lower() and "Warning" not in text


def test_several_runs_on_both_sets_leave_numbers_and_figures(models, source, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    options = ("--split", "both", "--eps", 1, "--seed", 3, "-o", tmp_path)
    assert pgdl_overfit("--models", models, "--data", source, *options) == 0
    text = capsys.readouterr().out
    assert "test set, 45 images" in text and "train set, 60 images" in text
    found = json.loads((tmp_path / "overfit.json").read_text())
    assert (found["train_examples"], found["test_examples"]) == (60, 45)
    assert (found["eps"], found["seed"], found["room"]) == (1, 3, "upsample")
    assert found["paths"] == {
        f"model_{i}": str((models / f"model_{i}").resolve()) for i in range(3)
    }
    assert set(found["sets"]) == {"test", "train"}
    for name, count in (("test", 45), ("train", 60)):
        part = found["sets"][name]
        assert part["examples"] == count and set(part["models"]) == set(found["paths"])
        assert part["together"]["strongest"]["models"] == 3
        for model in part["models"].values():
            assert list(model["error_by_shift"]) == ["0", "1", "2", "3"]
            tested = model["generators"]["strongest"]["test_error"]["value"]
            assert model["error_by_shift"]["0"] == pytest.approx(tested)
            assert 0 <= model["generators"]["strongest"]["p"] <= 1
    for figure in ("figure8_test", "figure8_train", "figure9", "figure10"):
        assert (tmp_path / f"{figure}.svg").stat().st_size > 5000
        assert (tmp_path / f"{figure}.png").is_file()


def test_a_model_of_another_eps_is_warned_of(models, source, capsys):
    pgdl_overfit(models / "model_0", "--data", source, "--eps", 2, "--test-examples", 12)
    text = capsys.readouterr().out
    assert "Warning: these models were trained on images that were upsampled for eps = 1" in text
    assert "test set, 12 images" in text and "that the zoo of these models used" not in text


def test_unseen_images_are_as_many_that_the_zoo_left_out(models, source):
    data = stripes()
    origin = find_origin([models / "model_0"])
    seen = choose_sets(data, "train", origin, 60, 45)["train"]
    unseen = choose_sets(data, "unseen", origin, 60, 45)["unseen"]
    assert len(unseen) == len(seen) == 60
    together = np.concatenate([seen.images, unseen.images])
    assert len(np.unique(together, axis=0)) == 120
    assert np.isin(together, data.train.images).all()
    assert np.bincount(unseen.labels).tolist() == [20, 20, 20]


def test_unseen_images_need_a_zoo_that_left_some_out(models, tmp_path):
    data = stripes()
    with pytest.raises(PgdlError, match="the models are not of one zoo"):
        choose_sets(data, "unseen", None, None, None)
    with pytest.raises(PgdlError, match="was trained on all training images"):
        choose_sets(data, "unseen", Origin(models, None, None, None), None, None)
    shuffled = stripes(train=147, test=93)
    with pytest.raises(PgdlError, match="was not trained on images of this --data"):
        choose_sets(shuffled, "unseen", find_origin([models / "model_0"]), None, None)


def test_models_from_elsewhere_are_of_no_zoo(models, tmp_path):
    assert find_origin([tmp_path / "a.keras"]) is None
    assert find_origin([models / "model_0", tmp_path / "a.keras"]) is None
    assert notes(None, "both", None, None, 2) == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [("--seed", "-1", "an integer from 0 to 2^31 - 1"), ("--eps", "0", "a positive integer")],
)
def test_numbers_out_of_range_are_refused(option, value, message, source, capsys):
    with pytest.raises(SystemExit):
        pgdl_overfit("model_0", "--data", source, f"{option}={value}")
    assert f"expected {message}, found '{value}'" in capsys.readouterr().err


def test_images_of_files_are_not_resized(models, tmp_path):
    source = write_npz(tmp_path / "a.npz", stripes())
    with pytest.raises(PgdlError, match="--image-size resizes tfds data only"):
        pgdl_overfit(models / "model_0", "--data", source, "--image-size", 4)
