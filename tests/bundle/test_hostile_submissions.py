"""A submission that means harm costs its own score: the host goes on, and nothing outlives it.

Where the harm needs no model, it is done by a stand-in for TensorFlow, which the submission's
process imports first: it starts in a fraction of a second.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from corpora import write_task
from live_processes import PATIENCE, assert_ended

ROOT = Path(__file__).resolve().parents[2]

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of all processes")

# A process that keeps neither parent nor session nor environment; found by its command line.
ESCAPE = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sleep = [sys.executable, "-c", "import time; time.sleep(600)", MARK]
        os.execve(sys.executable, sleep, {})
    os._exit(0)
time.sleep(0.5)
"""


@pytest.fixture(scope="module")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile")
    write_task(root / "task_a")
    return root


@pytest.fixture()
def mark(tmp_path: Path) -> str:
    return f"escaped-{tmp_path}"


def start(corpus: Path, folder: Path, *options: str, **modules: str) -> subprocess.Popen[str]:
    """Starts the ingestion program; `modules` are `complexity` and perhaps a `tensorflow`."""
    for name in ("submission", "program", "modules"):
        (folder / name).mkdir()
    for name, source in {"complexity": "", **modules}.items():
        home = "submission" if name == "complexity" else "modules"
        (folder / home / f"{name}.py").write_text(source)
    arguments = [corpus, folder / "output", folder / "program", folder / "submission", *options]
    paths = [str(ROOT), str(folder / "modules")]
    return subprocess.Popen(
        [sys.executable, "-m", "starting_kit_adapter.ingestion", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ingest(corpus: Path, folder: Path, *options: str, **modules: str) -> tuple[int, str]:
    """The exit code and what was said."""
    process = start(corpus, folder, *options, **modules)
    printed, errors = process.communicate(timeout=PATIENCE)
    assert "starting_kit_adapter/ingestion.py" not in errors, errors  # a traceback of the host
    return process.returncode, printed + errors


def running(mark: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (r"b'\xff\x00 no JSON\n'", "no JSON"),
        ("b'[' * 60000 + b'\\n'", "[[["),
        ("b'{\"value\": NaN}\\n'", "NaN"),
        ("b'{\"value\": ' + b'9' * 5000 + b'}\\n'", "9999"),
        ('b\'{"value": "1"}\\n\'', '"1"'),
        ("b'null\\n'", "null"),
        ("b'x' * 70000", "xxx"),
    ],
    ids=["binary", "nested", "nan", "huge", "text", "null", "endless"],
)
def test_garbage_in_the_answers_is_told_in_one_line(data, shown, small_corpus, tmp_path):
    source = f"""
import os, stat, time
for descriptor in range(3, 64):  # one of them goes to the host
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            os.write(descriptor, {data})
    except OSError:
        pass
time.sleep(600)
"""
    code, told = ingest(small_corpus, tmp_path, tensorflow=source)
    assert code == 1
    (line,) = told.splitlines()
    assert "failed at task_a model_0: its process answered" in line and shown in line
    assert not (tmp_path / "output").exists()


@linux
def test_a_submission_that_never_returns_is_stopped_with_what_it_started(
    small_corpus, mark, tmp_path
):
    source = f"MARK = {mark!r}\n{ESCAPE}\ntime.sleep(600)\n"
    code, told = ingest(small_corpus, tmp_path, "--time-limit", "0.5", tensorflow=source)
    assert code == 0, told  # as in the kit: EXCEEDED is a prediction, which scores 0
    values = json.loads((tmp_path / "output" / "task_a.predict").read_text())
    assert values == dict.fromkeys([f"model_{i}" for i in range(6)], "EXCEEDED")
    assert "more than 3 seconds, the rest is EXCEEDED" in told
    assert not running(mark)


# Both end by themselves after a while, should nobody end them.
BOMBS = {
    "a bomb": """
for _ in range(7):  # 128 processes, each in a session of its own
    if os.fork() == 0:
        os.setsid()
tell()
time.sleep(300)
""",
    "a runner": """
if os.fork() == 0:
    os.setsid()
    for _ in range(20_000):  # is never found twice under the same number
        tell()
        if os.fork():
            os._exit(0)
    os._exit(0)
time.sleep(300)
""",
}


@linux
@pytest.mark.parametrize("name", BOMBS)
def test_processes_that_multiply_or_run_away_end_with_the_submission(name, small_corpus, tmp_path):
    told_by = tmp_path / "pids"
    source = f"""
import os, time
def tell():
    with open({str(told_by)!r}, "a") as file:
        file.write(f"{{os.getpid()}}\\n")
{BOMBS[name]}
"""
    process = start(small_corpus, tmp_path, tensorflow=source)
    deadline = time.monotonic() + PATIENCE
    while not told_by.exists() or len(told_by.read_text().split()) < 40:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.terminate()
    process.communicate(timeout=PATIENCE)
    pids = told_by.read_text().split()
    assert_ended(*map(int, pids[-200:]))
    time.sleep(1)
    assert told_by.read_text().split() == pids  # nobody runs on


@linux
@pytest.mark.parametrize("processes", [1, 4])
def test_memory_is_limited_over_all_processes(processes, small_corpus, tmp_path):
    source = f"""
import os, time
for _ in range({processes} - 1):
    if os.fork() == 0:
        break
kept = bytearray(b"x" * ({640 // processes} * 2**20))
time.sleep(600)
"""
    code, told = ingest(small_corpus, tmp_path, "--memory-limit", "512M", tensorflow=source)
    assert code == 1
    assert "failed at task_a model_0: stopped at " in told
    assert "the limit is 0.50 GB" in told


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_stopping_the_program_ends_the_submission(number, small_corpus, mark, tmp_path):
    source = f"MARK = {mark!r}\n{ESCAPE}\ntime.sleep(600)\n"
    process = start(small_corpus, tmp_path, tensorflow=source)
    deadline = time.monotonic() + PATIENCE
    while not running(mark):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    cause = "interrupted" if number == signal.SIGINT else f"stopped by {number.name}"
    assert errors == f"{cause}; the tasks finished before have their files\n"
    assert not running(mark)


@linux
@pytest.mark.parametrize("work", ["time.sleep(600)", "re.match('(a+)+$', 1000 * 'a' + 'b')"])
def test_a_submission_ends_though_the_program_was_killed_and_could_not_end_it(
    work, small_corpus, tmp_path
):
    """SIGKILL, as when memory runs out; the second submission lets no other thread run."""
    pid = tmp_path / "pid"
    source = f"import os, re, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\n{work}\n"
    process = start(small_corpus, tmp_path, tensorflow=source)
    deadline = time.monotonic() + PATIENCE
    while not pid.exists() or not pid.read_text():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert_ended(int(pid.read_text()))


def test_a_submission_whose_process_closes_its_ears_is_told(small_corpus, tmp_path):
    source = "import os, time\nos.closerange(3, 64)\ntime.sleep(600)\n"
    code, told = ingest(small_corpus, tmp_path, tensorflow=source)
    assert code == 1
    assert "failed at task_a model_0: the worker" in told


@linux
def test_neither_its_processes_nor_the_predictions_that_it_wrote_last(small_corpus, mark, tmp_path):
    target = tmp_path / "output" / "task_a.predict"
    source = f"""
MARK = {mark!r}
{ESCAPE}
import threading
def spoil():
    while True:
        with open({str(target)!r}, "w") as file:
            file.write("{{}}")
os.makedirs({str(target.parent)!r}, exist_ok=True)
threading.Thread(target=spoil, daemon=True).start()
def complexity(model, dataset):
    return 1.0
"""
    code, told = ingest(small_corpus, tmp_path, complexity=source)
    assert code == 0, told
    assert json.loads(target.read_text()) == {f"model_{i}": 1.0 for i in range(6)}
    assert not running(mark)
