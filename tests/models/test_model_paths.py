"""What is taken for a model in a folder."""

from __future__ import annotations

from pathlib import Path

from ingestion.model_files.model_paths import models_at
from starting_kit_adapter.diagnose.overfit import models as overfit
from starting_kit_adapter.diagnose.rank import paths as rank


def _fill(folder: Path) -> None:
    for name in (
        *("model_10.keras", "model_2.keras", "old.h5", "saved/saved_model.pb"),
        *("model_3/config.json", "model_1/weights.hdf5", "unzipped.keras/config.json"),
        *("._old.h5", ".keras/config.json", "notes.txt", "data/shard_0.tfrecord"),
    ):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.touch()


def test_keras_files_saved_models_and_folders_of_a_corpus_are_models(tmp_path):
    _fill(tmp_path)
    names = ["model_1", "model_2.keras", "model_3", "model_10.keras", "old.h5", "saved"]
    assert [path.name for path in models_at(tmp_path)] == [*names, "unzipped.keras"]
    assert models_at(tmp_path / "saved") == [tmp_path / "saved"]
    assert models_at(tmp_path / "old.h5") == [tmp_path / "old.h5"]
    assert models_at(tmp_path / "nothing") == models_at(tmp_path / "data") == []


def test_rank_and_overfit_find_the_same_models(tmp_path):
    _fill(tmp_path)
    found = models_at(tmp_path)
    assert list(rank.find_models([str(tmp_path)]).values()) == found
    assert list(overfit.find_models(None, tmp_path).values()) == found
