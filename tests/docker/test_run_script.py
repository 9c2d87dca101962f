"""docker/run.sh: what it asks of docker. A stand-in on PATH records the arguments."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docker" / "run.sh"
RECORDER = """#!{python}
import json, pathlib, sys
pathlib.Path({record!r}).write_text(json.dumps(sys.argv[1:]))
sys.exit(7)
"""
NVIDIA_SMI = """#!/bin/sh
case $1 in
--id=0) echo "Tesla K80" ;;
--id=1) echo "Tesla V100-SXM2-16GB" ;;
--id=GPU-4f2a) echo "NVIDIA A100-SXM4-40GB" ;;
*) exit 6 ;;
esac
"""


@pytest.fixture
def run(tmp_path):
    """Runs the script in `tmp_path` and returns the process and what docker was given."""
    programs, record = tmp_path / "bin", tmp_path / "record.json"
    programs.mkdir()
    recorder = RECORDER.format(python=sys.executable, record=str(record))
    for name, text in (("docker", recorder), ("nvidia-smi", NVIDIA_SMI)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def run(*arguments, **environment):
        record.unlink(missing_ok=True)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        process = subprocess.run(
            [SCRIPT, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            text=True,
        )
        return process, json.loads(record.read_text()) if record.exists() else None

    (tmp_path / "zoo").mkdir()
    return run


def option(given, name):
    """The values of an option, before the image."""
    return [value for key, value in zip(given, given[1:]) if key == name]


def test_the_limits_are_the_competitions_and_the_rest_is_for_pgdl(run, tmp_path):
    process, given = run("zoo", "out", "run", "/corpus", "-m", "mixup", "-o", "/out")
    assert process.returncode == 7  # docker's own
    assert given[0] == "run"
    assert option(given, "--cpus") == ["4"]
    assert option(given, "--memory") == option(given, "--memory-swap") == ["26g"]
    assert option(given, "--network") == ["none"]
    assert option(given, "--cap-drop") == ["ALL"]
    assert option(given, "--user") == [f"{os.getuid()}:{os.getgid()}"]
    assert "--read-only" in given and option(given, "--tmpfs")[0].startswith("/tmp:")
    assert "--gpus" not in given and "--tty" not in given
    assert option(given, "--mount") == [
        f"type=bind,source={tmp_path}/zoo,target=/corpus,readonly",
        f"type=bind,source={tmp_path}/out,target=/out",
    ]
    image = given.index("pgdl-measures:cpu")
    assert given[image + 1 :] == ["run", "/corpus", "-m", "mixup", "-o", "/out"]


def test_spaces_and_quotes_stay_where_they_are(run, tmp_path):
    (tmp_path / "my zoo's").mkdir()
    _, given = run("my zoo's", "my out", "run", "/corpus", "--tasks", "a b", "*", "")
    assert option(given, "--mount") == [
        f"type=bind,source={tmp_path}/my zoo's,target=/corpus,readonly",
        f"type=bind,source={tmp_path}/my out,target=/out",
    ]
    assert given[-4:] == ["--tasks", "a b", "*", ""]


def test_a_single_task_keeps_its_name(run, tmp_path):
    (tmp_path / "task1_v4" / "dataset_1").mkdir(parents=True)
    _, given = run("task1_v4/", "out", "check", "/corpus")
    expected = f"type=bind,source={tmp_path}/task1_v4,target=/corpus/task1_v4,readonly"
    assert option(given, "--mount")[0] == expected


def test_the_folder_of_results_is_made_by_the_user_and_not_by_the_daemon(run, tmp_path):
    run("zoo", "results/of today", "check", "/corpus")
    made = tmp_path / "results" / "of today"
    assert made.is_dir() and made.stat().st_mode & stat.S_IWUSR
    assert made.stat().st_uid == os.getuid()


@pytest.mark.parametrize(
    "arguments, device, image",
    [
        (["--device", "k80"], "device=0", "pgdl-measures:gpu"),
        (["--device", "v100", "--gpu", "1"], "device=1", "pgdl-measures:gpu"),
        (["--gpu", "GPU-4f2a", "--device", "gpu"], "device=GPU-4f2a", "pgdl-measures:gpu"),
        (["--device", "k80", "--image", "mine:1"], "device=0", "mine:1"),
    ],
)
def test_one_gpu_is_chosen_and_is_what_was_asked_for(run, arguments, device, image):
    _, given = run(*arguments, "zoo", "out", "limits", "/corpus", "--device", "k80")
    assert option(given, "--gpus") == [device]
    place = given.index(image)
    assert given[place + 1 :] == ["limits", "/corpus", "--device", "k80"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nowhere", "out", "check"], "there is no folder nowhere"),
        (["zoo", "zoo/file/out", "check"], "cannot make the folder zoo/file/out"),
        (["--device", "tpu", "zoo", "out", "check"], "unknown device tpu"),
        (["--device", "v100", "zoo", "out", "check"], "GPU 0 is a Tesla K80, not a V100"),
        (["--device", "k80", "--gpu", "9", "zoo", "out", "check"], "finds no GPU 9"),
        (["--device", "k80", "--gpu", "0,1", "zoo", "out", "check"], "expected one index"),
        (["--cpus", "8", "zoo", "out", "check"], "unknown option --cpus"),
        (["--device"], "--device needs a value"),
        (["a,b", "out", "check"], "comma"),
        (["zoo", "out"], "usage:"),
        ([], "usage:"),
    ],
)
def test_what_cannot_work_is_said_before_docker_is_called(run, tmp_path, arguments, message):
    (tmp_path / "zoo" / "file").write_text("")
    (tmp_path / "a,b").mkdir()
    process, given = run(*arguments)
    assert process.returncode == 2 and given is None
    assert message in process.stderr


def test_a_smaller_machine_says_so(run):
    _, given = run("zoo", "out", "check", "/corpus", PGDL_CPUS="2", PGDL_MEMORY="6g")
    assert option(given, "--cpus") == ["2"]
    assert option(given, "--memory") == option(given, "--memory-swap") == ["6g"]


def test_help_needs_nothing(run):
    process, given = run("--help")
    assert process.returncode == 0 and given is None and "examples:" in process.stdout


def test_a_submission_is_given_the_models_and_the_training_data_alone(run, tmp_path):
    seen = {
        "task/dataset_1/train/shard_0.tfrecord",
        "task/dataset_2/train/shard_0.tfrecord",
        "task/model_1/config.json",
        "task/model_1/weights.hdf5",
        "task/model_1/weights_init.hdf5",
    }
    hidden = {
        "task/model_configs.json",
        "task/dataset_1/test/shard_0.tfrecord",
        "task/model_1/result.json",
        "zoo.json",
        "reference_data/task/model_configs.json",
    }
    for name in seen | hidden:
        path = tmp_path / "zoo" / "input_data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "s.zip").write_text("zip")
    docker = tmp_path / "bin" / "docker"  # lists what is mounted at /corpus, as it is removed later
    listing = 'case $a in *target=/corpus,*) s=${a#*source=}; find "${s%%,*}/" -type f;; esac'
    docker.write_text(f'#!/bin/sh\necho "$@"\nfor a; do {listing}; done\n')
    process, _ = run("--submission", "s.zip", "zoo", "out")
    assert process.returncode == 0, process.stderr
    command, *files = process.stdout.splitlines()
    assert {file.partition("/input_data/")[2] for file in files} == seen
    assert f"source={tmp_path}/s.zip,target=/submission,readonly" in command
    assert "target=/corpus,readonly" in command and "--pids-limit" in command
    assert "--network none" in command and str(tmp_path / "zoo,") not in command
    assert command.endswith("pgdl-measures:cpu ingestion /corpus /out /tmp /submission")
    assert not list(tmp_path.glob(".pgdl-*"))


def test_a_submission_that_is_not_there(run):
    process, given = run("--submission", "nowhere.zip", "zoo", "out")
    assert process.returncode == 2 and given is None
    assert "there is no submission nowhere.zip" in process.stderr
