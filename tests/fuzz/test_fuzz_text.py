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

from ingestion.corpus import Task, find_corpus
from ingestion.datasets.scale import recorded_accuracy
from ingestion.run.plan import Request, make_plan
from ingestion.run.store import Store
from ingestion.zoo.grid import read_grid
from ingestion.zoo.layout import Zoo
from ingestion.zoo.suite import read_suite, state
from pgdl_measures import complexity
from scoring.kit.program import score_folders
from scoring.predictor import Predictor, read_predictor
from scoring.record import Curve, Line, Stamp
from scoring.recorded_run import read_run, recorded_corpus, recorded_options
from scoring.report.robust_formats import robust_json
from scoring.robust.evaluation import evaluate
from scoring.robust.runs import read_csv
from starting_kit_adapter.diagnose.overfit.models import read_training
from starting_kit_adapter.studies.invariance.scores import groups
from starting_kit_adapter.submission.metadata import check_metadata
from starting_kit_adapter.terminal.run_options import read_settings
from starting_kit_adapter.terminal.zoo_summary import summary

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
    {"mixup": 12},
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


def test_references_beside_a_model(tmp_path):
    folder = tmp_path / "t" / "model_0"
    folder.mkdir(parents=True)
    augmented = {
        "model_" + key: {**entry, "augment": {"perturbation": "rotation", "level": "none"}}
        for key, entry in REFERENCE.items()
    }

    def read(data: bytes) -> None:
        reference = write(folder.parent / "model_configs.json", data)
        assert isinstance(recorded_accuracy(folder), (float, type(None)))
        assert isinstance(read_training(folder), dict)
        groups(Task("t", folder.parent, reference, ("model_0",)))

    fuzz("model_configs.json (studies)", read, damaged_json(augmented), 400)


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
            summary(zoo.records("t"))

    fuzz("zoo.json", read, damaged_json({"tasks": {"t": {}}, **TRAINING}), 400)


def test_grids(tmp_path):
    fuzz("grid", lambda data: read_grid(write(tmp_path / "g.json", data)), damaged_json(GRID), 400)


def test_suites(tmp_path):
    suite = {"data": {"digits": {}, "mine": {"file": "mine.npz", "tfds": "mnist"}}, "tasks": {}}
    for name, data in (("t1", "digits"), ("t2", "mine")):
        entry = {"after": "task 1", "data": data, "image_size": 8, "grid": {**GRID, "repeats": 2}}
        suite["tasks"][name] = entry

    def read(data: bytes) -> None:
        tasks = read_suite(str(write(tmp_path / "suite.json", data)))
        for task in tasks:
            assert task.models >= 0 and task.source(None)
        assert all(len(row) == 6 for row in state(tasks, tmp_path))

    fuzz("suite", read, damaged_json(suite), 400)


def test_tables_of_runs(tmp_path):
    header = ["hp.width", "hp.lr", "is.converged", "gen.gap", "complexity.a", "complexity.b_fft"]
    rows = [[w, lr, True, 0.1 * w, w - lr, 0.5] for w in (1, 2) for lr in (0.1, 0.01)] * 2
    cells = st.one_of(
        st.floats(), st.integers(), st.sampled_from(["", "x", "nan", "1e999", '"', "\0", "1,1"])
    )

    @st.composite
    def odd_cells(draw: st.DrawFn) -> bytes:
        table = [list(map(str, row)) for row in [header, *rows]]
        for _ in range(draw(st.integers(1, 4))):
            row = draw(st.sampled_from(table))
            place = draw(st.integers(0, len(row)))
            row[place : place + draw(st.sampled_from([1, 1, 1, 0]))] = [str(draw(cells))]
        return "\n".join(map(",".join, table)).encode()

    def read(data: bytes) -> None:
        robust_json(evaluate(read_csv(write(tmp_path / "runs.csv", data)), min_effective=0))

    valid = "\n".join(",".join(map(str, row)) for row in [header, *rows]).encode()
    fuzz("runs.csv", read, st.one_of(odd_cells(), damaged_bytes(valid)), 400)


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
