"""Children end with their parent and take with them whatever they started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from live_processes import assert_ended, is_alive
from run_zoo import HERE, ROOT

from ingestion.processes import ChildProcess, Log, cause_of_end

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}


def start(word: str, log: Log | None = None) -> ChildProcess:
    return ChildProcess("obedient_child", [word], environment=ENVIRONMENT, output=log)


def test_messages_go_both_ways() -> None:
    child = start("echo")
    child.connection.send({"a": 1})
    assert child.connection.recv() == {"a": 1} and child.exit_code() is None
    assert child.memory() > 2**20
    child.close()
    assert_ended(child.pid)
    child.kill()  # of a child that is closed: nobody else's process


@pytest.mark.parametrize("word", ["fork", "setsid", "daemon"])
def test_what_a_child_started_ends_with_it_even_in_a_session_of_its_own(word: str) -> None:
    child = start(word)
    grandchild = child.connection.recv()
    assert is_alive(grandchild)
    child.close()
    assert_ended(child.pid, grandchild)


@pytest.mark.parametrize("word", ["fork", "setsid", "daemon", "busy"])
def test_children_end_when_their_parent_is_killed(word: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, str(HERE / "obedient_child.py"), "parent", word],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2 and all(map(is_alive, pids))
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert_ended(*pids)


def test_the_end_of_what_it_printed_is_kept() -> None:
    log = Log()
    child = start("print", log)
    assert child.connection.recv() == "printed"
    assert log.tail().endswith("line 99999") and len(log.tail()) <= 2000
    log.clear()
    child.connection.send("again")
    assert child.connection.recv() == "printed"
    assert log.tail().splitlines()[-1] == "line 99999"
    child.close()
    log.close()


def test_an_end_is_told_in_words() -> None:
    assert cause_of_end(3) == "the worker ended with exit code 3"
    assert "SIGSEGV" in cause_of_end(-signal.SIGSEGV)
    assert "memory" in cause_of_end(-signal.SIGKILL)
    assert "signal 40" in cause_of_end(-40)
    assert "closed its pipe" in cause_of_end(None)
