"""A corpus of two tasks, the ingestion program as a folder, and an environment without us."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from corpora import write_task

from ingestion.source_closure import PACKAGES
from starting_kit_adapter.codabench.programs import ingestion_program


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks of six and of three models, with gaps and test data where the kit has them."""
    root = tmp_path_factory.mktemp("corpus")
    first = write_task(root / "input_data" / "task_a")
    configs = json.loads((first / "model_configs.json").read_text())
    for config in configs.values():  # several models per cell, so that there is an order to predict
        del config["hparams"]["architecture"]
    (first / "model_configs.json").write_text(json.dumps(configs))
    second = first.with_name("task_b")
    shutil.copytree(first, second, ignore=shutil.ignore_patterns("model_[3-5]"))
    half = {model_id: config for model_id, config in configs.items() if int(model_id) < 3}
    (second / "model_configs.json").write_text(json.dumps(half))
    return root


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ingestion program as a Codabench worker unpacks it."""
    return write_files(tmp_path_factory.mktemp("program"), ingestion_program())


@pytest.fixture(scope="session")
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which none of our packages can be imported, installed or not."""
    folder = tmp_path_factory.mktemp("poison")
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text(
            "raise ImportError(f'{__name__} was imported, which is not installed here')\n"
        )
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # As `pgdl run` sets them: the last bits of sums depend on the number of threads.
    one = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    one += ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        **kept,
        **dict.fromkeys(one, "1"),
        "PYTHONPATH": str(folder),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
