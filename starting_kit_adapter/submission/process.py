"""Starts the process of a submission (`worker`) and asks it for values.

Nothing that comes from there is trusted. An answer is a line of JSON of limited length that holds
a finite number or a reason; it must come in time, from processes that together stay within the
memory limit; and whatever the submission has started is ended with it. What this cannot prevent is
said in `submission.stage`.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from ingestion.descendants import Descendants
from ingestion.processes import ChildProcess, cause_of_end, gigabytes, memory_refusal
from scoring.files import parse_json
from starting_kit_adapter.submission import worker
from starting_kit_adapter.submission.errors import OutOfTimeError, SubmissionError

_LOOK = 0.5  # seconds between two looks at the clock and the memory
_LONGEST = 65536  # bytes of an answer
_SHOWN = 500  # characters of an answer in a message


class SubmissionProcess:
    """A submission, started when it is first asked. Its context ends it and all that it started."""

    def __init__(
        self,
        name: str,
        *,
        corpus: Path,
        program: Path,
        submission: Path,
        folder: Path,
        environment: dict[str, str],
        memory: int | None = None,
    ) -> None:
        """`name` is what messages call it; `memory` limits the bytes of all its processes."""
        if memory is not None and (refusal := memory_refusal()):
            raise SubmissionError(refusal)
        self._name, self._folder, self._memory = name, folder, memory
        self._arguments = [str(path) for path in (corpus, program, submission)]
        # Above the packages, wherever this one is: installed, in a checkout or in a program folder.
        root = Path(__file__).resolve().parents[__name__.count(".")]
        paths = [str(root), *filter(None, [environment.get("PYTHONPATH")])]
        self._environment = {
            **environment,
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONUNBUFFERED": "1",  # what it prints is not lost when it is ended
        }
        self._processes = Descendants()
        self._child: ChildProcess | None = None
        self._unread = b""

    def __enter__(self) -> SubmissionProcess:
        self._processes.__enter__()
        return self

    def __exit__(self, *unused: object) -> None:
        try:
            self._stop()
        finally:
            self._processes.__exit__()

    def measure(self, task: str, model_id: str, seconds: float) -> float:
        """The submission's `complexity` of one model; raises if it takes longer than `seconds`."""
        deadline = time.monotonic() + seconds
        child = self._child or self._start()
        try:
            request = json.dumps({"task": task, "model": model_id}) + "\n"
            os.write(child.connection.fileno(), request.encode())
            return _value(self._answer(child, deadline))
        except OutOfTimeError:
            self._stop()
            raise
        except (EOFError, OSError, ValueError, SubmissionError) as error:
            reason = str(error)
            if isinstance(error, (EOFError, OSError)):
                reason = cause_of_end(child.exit_code(_LOOK))
            raise SubmissionError(f"{self._name} failed at {task} {model_id}: {reason}") from error

    def _answer(self, child: ChildProcess, deadline: float) -> bytes:
        while b"\n" not in self._unread:
            # Asked before it is read: if the child has ended, all that it said is there.
            ended = child.exit_code() is not None
            if child.connection.poll(0 if ended else _LOOK):
                data = os.read(child.connection.fileno(), _LONGEST)
                if not data:
                    raise EOFError
                self._unread += data
            elif ended:  # what it started may hold the connection open
                raise EOFError
            if len(self._unread) > _LONGEST:
                raise ValueError(_unexpected(self._unread))
            if time.monotonic() > deadline:
                raise OutOfTimeError(f"{self._name} did not return in time")
            self._check_memory()
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _check_memory(self) -> None:
        if self._memory is None or (used := self._processes.memory(self._memory)) <= self._memory:
            return
        self._stop()
        raise SubmissionError(
            f"stopped at {gigabytes(used)} of memory; the limit is {gigabytes(self._memory)}"
        )

    def _start(self) -> ChildProcess:
        self._unread = b""
        self._child = ChildProcess(
            worker.__name__,
            self._arguments,
            environment=self._environment,
            folder=self._folder,
        )
        os.set_blocking(self._child.connection.fileno(), False)  # requests that nobody reads
        return self._child

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()
        if not self._processes.end():
            print(f"warning: processes of {self._name} are still alive", file=sys.stderr)


def _value(line: bytes) -> float:
    """The number in an answer; a ValueError has the submission's reason why there is none."""
    try:
        answer: Any = parse_json(line)
    except ValueError:
        answer = None
    content = answer if isinstance(answer, dict) else {}
    if isinstance(content.get("error"), str):
        raise ValueError(content["error"][:_SHOWN])
    value = content.get("value")
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(_unexpected(line))


def _unexpected(data: bytes) -> str:
    return f"its process answered {data[:80]!r}; expected a line of JSON with a finite value"
