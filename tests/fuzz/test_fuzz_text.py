"""Files of text from outside: a reader returns a value or says what is wrong, and nothing else.

See `fuzzing.py` for how, and for the number of inputs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fuzzing import fuzz
from hypothesis import strategies as st
from mutations import damaged_bytes, damaged_json, odd_json

from ingestion.corpus import find_corpus
from ingestion.run.plan import Request, make_plan
from ingestion.run.store import Store
from ingestion.zoo.grid import read_grid
from ingestion.zoo.layout import Zoo
from pgdl_measures import complexity
from scoring.kit.program import score_folders
from scoring.predictor import Predictor, read_predictor
from scoring.record import Curve, Line, Stamp
from scoring.recorded_run import read_run, recorded_corpus, recorded_options
from starting_kit_adapter.submission.metadata import check_metadata
from starting_kit_adapter.terminal.run_options import read_settings

PREDICTIONS = {f"model_{i}": i * 0.5 for i in range(4)}
REFERENCE = {
    str(i): {
        "hparams": {
            "width": {"possible_values": [1, 2], "current_value": 1 + i % 2},
            "depth": {"possible_values": ["a", "b"], "current_value": "ab"[i // 2]},
        },
        "metrics": {"train_acc": 1.0, "test_acc": 0.9 - 0.1 * i},
    }
    for i in range(4)
}
STAMP = Stamp("12", "34")
LINE = Line(
    "t",
    "model_0",
    "ok",
    {"mixup": -0.5},
    {"mixup": 1.5},
    {"params": "no"},
    (Curve((0.0, 0.5), (1.0, 0.5), None, "intra", 0),),
    10**9,
    options={"mixup": {"batches": 3}},
    versions={"python": "3.11"},
    fingerprints={"mixup": "ab"},
    model_files=STAMP,
    data_files=STAMP,
)
RUN = {"corpus": "zoo", "settings": {"measures": "mixup", "set": ["batches=3"], "workers": 2}}
GRID = {
    "architecture": "vgg",
    "hparams": {"width": [4, 8], "dropout": [0.0, 0.25]},
    "fixed": {"blocks": 1, "dense_units": 32, "learning_rate": 0.01},
    "target": {"accuracy": 0.95},
    "max_epochs": 60,
    "train_examples": 100,
}
TRAINING = {
    "hparams": {"width": 4},
    "metrics": {"train_acc": 1.0, "test_acc": 0.5},
    "training": {"seed": 0},
}
PREDICTOR = Predictor(
    ("mixup", "params"),
    (0.1, 2e-3),
    0.5,
    0.1,
    0.2,
    0.9,
    (-1.0, 2.0),
    (0.0, 9.0),
    {"t": 3},
    {"mixup": {"batches": 3}},
)
CONFIG = {
    "model_config": [{"layer_name": "Flatten"}, {"layer_name": "Dense", "units": 2.0}],
    "input_shape": [4, 4, 1],
}


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_predictions(tmp_path):
    reference = write(tmp_path / "ref" / "t" / "model_configs.json", json.dumps(REFERENCE).encode())

    def read(data: bytes) -> None:
        write(tmp_path / "res" / "t.predict", data)
        score_folders(reference.parents[1], tmp_path / "res")

    fuzz("<task>.predict", read, damaged_json(PREDICTIONS), 400)


def test_references(tmp_path):
    write(tmp_path / "res" / "t.predict", json.dumps(PREDICTIONS).encode())

    def read(data: bytes) -> None:
        write(tmp_path / "ref" / "t" / "model_configs.json", data)
        score_folders(tmp_path / "ref", tmp_path / "res")

    fuzz("model_configs.json", read, damaged_json(REFERENCE), 400)


def test_records(tmp_path):
    line = json.loads(LINE.encode())
    lines = st.lists(
        st.one_of(odd_json(line), damaged_bytes(LINE.encode()), st.just(LINE.encode())), max_size=3
    )

    def read(data: list[bytes]) -> None:
        write(tmp_path / "records.jsonl", b"\n".join(data) + b"\n")
        read_run(tmp_path)
        recorded_options(tmp_path)
        with Store(tmp_path) as store:
            make_plan(Request([], [complexity("mixup")]), store.lines)

    fuzz("records.jsonl", read, lines, 400)


def test_runs(tmp_path):
    def read(data: bytes) -> None:
        path = write(tmp_path / "run.json", data)
        recorded_corpus(tmp_path)
        read_settings(argparse.Namespace(corpus=Path("zoo"), config=path))

    fuzz("run.json", read, damaged_json(RUN), 400)


def test_configurations_in_the_planner(tmp_path):
    write(tmp_path / "t" / "dataset_1" / "train" / "shard_0.tfrecord", b"")
    folder = tmp_path / "t" / "model_0"
    write(folder / "weights.hdf5", b"")

    def read(data: bytes) -> None:
        write(folder / "config.json", data)
        corpus = find_corpus(tmp_path)
        for task in corpus.tasks:
            task.offers()
        plan = make_plan(Request(corpus.tasks, [complexity("mixup")]), [])
        assert len(plan.jobs) == 1  # whatever is in it, the model is planned, to be told later

    fuzz("config.json (planner)", read, damaged_json(CONFIG), 400)


def test_zoos(tmp_path):
    (tmp_path / "input_data" / "t" / "model_0").mkdir(parents=True)

    def read(data: bytes) -> None:
        write(tmp_path / "zoo.json", data)
        write(tmp_path / "training" / "t" / "model_0.json", data)
        zoo = Zoo(tmp_path)
        try:
            zoo.tasks()
        finally:
            zoo.write_references("t")

    fuzz("zoo.json", read, damaged_json({"tasks": {"t": {}}, **TRAINING}), 400)


def test_grids(tmp_path):
    fuzz("grid", lambda data: read_grid(write(tmp_path / "g.json", data)), damaged_json(GRID), 400)


def test_predictors(tmp_path):
    def read(data: bytes) -> None:
        predictor = read_predictor(write(tmp_path / "p.json", data))
        predictor.predict(dict.fromkeys(predictor.measures, 0.5))

    fuzz("predictor.json", read, damaged_json(PREDICTOR.to_json()), 400)


def test_metadata(tmp_path):
    valid = b"description: what it is\n  and more\nauthor: me\n"

    def read(data: bytes) -> None:
        write(tmp_path / "metadata", data)
        check_metadata(tmp_path)

    fuzz("metadata", read, damaged_bytes(valid), 200)
