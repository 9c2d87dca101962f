"""Files that the other Keras wrote: of Keras 2 under Keras 3, and of Keras 3 under Keras 2.

The other Keras is that of the Makefile's other environment, or of the interpreter that
PGDL_OTHER_KERAS names.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from models.networks import IS_KERAS3, NETWORKS

from ingestion.errors import CorpusError
from ingestion.model_files.any_model import read_model

pytestmark = pytest.mark.keras2
ROOT = Path(__file__).resolve().parents[2]
OTHER = Path(
    os.environ.get("PGDL_OTHER_KERAS")
    or ROOT / (".venv-keras2" if IS_KERAS3 else ".venv") / "bin" / "python"
)
FORMS = ["keras", "h5", "corpus", *(["folder"] if IS_KERAS3 else [])]
WRITE = """
import json, os, sys
from pathlib import Path
import numpy as np, tensorflow as tf
from ingestion.model_files.any_model import read_model
from ingestion.model_files.keras_names import leaf_weights
from ingestion.model_files.weights import write_weights
from models.networks import IS_KERAS3, NETWORKS, SHAPE, filled

x = np.random.default_rng(1).uniform(0, 255, (6, *SHAPE)).astype(np.float32)
folder = Path(sys.argv[1])
for name, make in NETWORKS.items():
    model = filled(make())
    np.savez(folder / f"{name}.npz", x=x, y=np.asarray(model(x, training=False), np.float32))
    for form in ("keras", "h5", "folder"):
        path = folder / (f"{name}.{form}" if form != "folder" else name)
        try:
            model.export(path) if IS_KERAS3 and form == "folder" else model.save(path)
        except Exception as error:
            print(name, form, error)
    corpus = folder / f"{name}.corpus"
    corpus.mkdir()
    config, read = read_model(folder / f"{name}.keras")
    (corpus / "config.json").write_text(json.dumps(config))
    write_weights(corpus / "weights.hdf5", leaf_weights(read))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every network in every format, and its inputs and outputs."""
    if not OTHER.is_file():
        pytest.skip(f"there is no interpreter with the other Keras at {OTHER}; see the Makefile")
    folder = tmp_path_factory.mktemp("other")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([OTHER, "-c", WRITE, folder], env=environment, check=True)
    return folder


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_of_the_other_keras_is_the_same(name: str, form: str, written: Path) -> None:
    path = written / (f"{name}.{form}" if form != "folder" else name)
    if not path.exists():
        pytest.skip(f"the other Keras cannot write {path.name}")
    known = np.load(written / f"{name}.npz")
    _, model = read_model(path)
    outputs = np.asarray(model(known["x"], training=False), np.float32)
    close = 1e-4 if name != "mixed" else 1e-2  # half precision
    np.testing.assert_allclose(outputs, known["y"], rtol=close, atol=close)


@pytest.mark.skipif(IS_KERAS3, reason="Keras 2 writes its configuration into a SavedModel")
def test_what_keras_3_exports_says_what_to_do(written: Path) -> None:
    with pytest.raises(CorpusError, match=r"without Keras' configuration.*save the model as"):
        read_model(written / "chain")
