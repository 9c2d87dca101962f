"""The `pgdl` command as a user types it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from corpora import write_task
from shared_data import SHARED, needs_shared

from scoring.errors import ScoringError
from scoring.files import write_whole

pytestmark = pytest.mark.keras2


def pgdl(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_task(folder / "images", count=60)
    return folder


@pytest.mark.parametrize(
    "arguments", [["-h"], ["ls", "measures"], ["ls", "tasks", "CORPUS"], ["ls", "models", "CORPUS"]]
)
def test_what_needs_no_tensorflow_does_not_import_it(arguments, corpus):
    arguments = [str(corpus) if a == "CORPUS" else a for a in arguments]
    code = (
        "import sys\nfrom starting_kit_adapter.cli.main import entry_point\n"
        f"sys.argv = ['pgdl', *{arguments!r}]\n"
        "try:\n    entry_point()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    modules = set(result.stderr.split())
    assert "tensorflow" not in modules
    assert arguments != ["-h"] or "numpy" not in modules


def test_every_verb_has_help_with_examples():
    from starting_kit_adapter.cli.main import VERBS

    for verb in VERBS:
        shown = pgdl(verb, "-h").stdout
        assert f"pgdl {verb}" in shown.split("examples:")[1], verb


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("verb", ["ls measures", "ls measures mixup"])  # more than a buffer, less
def test_an_output_that_takes_nothing_is_told_in_one_line_and_a_reader_that_left_in_none(
    verb, unbuffered
):
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", *verb.split()]
    kind = {
        "text": True,
        "stderr": subprocess.PIPE,
        "cwd": ROOT,
        "env": {**os.environ, "PYTHONUNBUFFERED": unbuffered},
    }
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, stdout=full, **kind)
    assert told.returncode == 1
    (line,) = told.stderr.splitlines()
    assert "the standard output" in line and line.endswith("No space left on device")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        told = subprocess.run(command, stdout=gone, **kind)
    assert told.returncode == 1 and told.stderr == ""


def test_names_that_are_text_in_no_encoding_are_printed_and_written(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / name / "model_0").mkdir(parents=True)
    (tmp_path / name / "dataset_1").mkdir()
    command = [sys.executable, "-m", "starting_kit_adapter.cli.main", "ls", "tasks", str(tmp_path)]
    env = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    told = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
    assert "\\udce9" in told.stdout and told.stderr == ""
    write_whole(tmp_path / name / "page", f"{name} ü")
    assert (tmp_path / name / "page").read_text(encoding="utf-8") == "caf\\udce9 ü"


def test_a_folder_in_place_of_the_file_to_write_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in (".", "folder", "folder/..", "/"):
        with pytest.raises(ScoringError, match=f"cannot write {re.escape(name)}: "):
            write_whole(Path(name), "text")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_no_file_takes_the_place_of_a_standard_stream_that_is_closed(tmp_path):
    code = (
        "import os, sys\nfrom starting_kit_adapter.terminal.streams import prepare_streams\n"
        "prepare_streams()\nfile = open(sys.argv[1], 'w')\nprint('lost')\n"
        "print('lost', file=sys.stderr)\nos.write(2, b'lost')\nfile.write(str(file.fileno() > 2))"
    )
    closed = ["bash", "-c", 'exec "$@" <&- >&- 2>&-', "bash"]
    subprocess.run([*closed, sys.executable, "-c", code, tmp_path / "file"], cwd=ROOT, check=True)
    assert (tmp_path / "file").read_text() == "True"


@pytest.mark.parametrize(
    "typed, told",
    [
        ("chekc zoo", "pgdl: unknown verb 'chekc'; did you mean check?"),
        ("ls measure", "pgdl ls: unknown verb 'measure'; did you mean measures?"),
        ("", "pgdl: the following arguments are required: VERB"),
        ("rank a.keras", "pgdl rank: the following arguments are required: --data"),
        ("rank a.keras --data digits --by size", "unknown --by 'size'; known: accuracy, gap"),
        # Not an abbreviation: elsewhere it is the random seed, here it would be how many.
        ("rank a.keras --data digits --seed 3", "pgdl rank: unknown arguments: --seed 3; did you"),
        # A script of the user's, which it replaced.
        ("learn out -m a -o pyproject.toml", "pyproject.toml exists and is no .json file"),
        ("bundle -m mixup -o tests", "tests exists and is no .zip file; name another"),
    ],
)
def test_what_is_typed_wrongly_is_told_with_the_nearest_word_and_where_to_read_on(
    typed, told, capsys, monkeypatch
):
    from starting_kit_adapter.cli.main import make_parser

    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as end:
        make_parser().parse_args(typed.split())
    first, *others = capsys.readouterr().err.splitlines()
    assert end.value.code == 2
    assert told in first and "usage" not in first
    prog = first.partition(":")[0]
    assert others[-1] == f"`{prog} -h` explains everything"
    assert len(others) == 1 or others[0].startswith(f"for example: {prog} ")


def test_a_wrong_verb_or_folder_is_an_error_without_traceback():
    assert pgdl("chekc").returncode == 2
    result = pgdl("check", "nowhere")
    assert result.returncode == 1
    assert "nowhere: is not a folder" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_finds_nothing_wrong_with_a_whole_corpus(corpus):
    result = pgdl("check", corpus)
    assert result.returncode == 0, result.stdout + result.stderr
    row = next(line for line in result.stdout.splitlines() if line.startswith("images")).split()
    assert row == ["images", "6", "3x2,", "complete", "8x8x3", "5", "60/20", "0"]


def test_check_names_every_problem_and_still_checks_the_rest(corpus, tmp_path):
    damaged = Path(shutil.copytree(corpus, tmp_path / "corpus")) / "images"
    (damaged / "model_1" / "weights.hdf5").unlink()
    (damaged / "model_2" / "config.json").write_text("{")
    (damaged / "dataset_1" / "test" / "shard_0.tfrecord").write_bytes(b"cut")
    reference = json.loads((damaged / "model_configs.json").read_text())
    del reference["5"]
    for model in reference.values():  # as recorded by another program
        model["metrics"]["train_acc"] = 0.123
    (damaged / "model_configs.json").write_text(json.dumps(reference))

    result = pgdl("check", damaged, "--accuracy")
    assert result.returncode == 1
    problems = [line for line in result.stdout.splitlines() if line.startswith("problem")]
    for part in (
        "model_1: ",
        "weights.hdf5: is missing",
        "model_2/config.json: is not JSON",
        "test data: ",
        "in the corpus but not in model_configs.json: model_5",
        "model_3: recorded train accuracy 0.1230, recomputed",
    ):
        assert any(part in line for line in problems), (part, problems)
    assert "cells without a model: {'architecture': 'nin', 'run': 1}" in result.stdout


@needs_shared
def test_the_toy_models_have_their_recorded_accuracy():
    result = pgdl("check", SHARED / "data" / "pgdl", "--accuracy")
    assert result.returncode == 0, result.stdout + result.stderr
    assert sum(line.endswith(" ok") for line in result.stdout.splitlines()) == 18
