"""The other end of the worker: starts the submission's process and asks it for values."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from starting_kit_adapter.submission import worker
from starting_kit_adapter.submission.errors import SubmissionError


class SubmissionProcess:
    """A running submission. As a context, its process and all that it started end with it."""

    def __init__(
        self,
        name: str,
        *,
        corpus: Path,
        program: Path,
        submission: Path,
        folder: Path,
        environment: dict[str, str],
    ) -> None:
        self._name = name
        requests, ours_in = os.pipe()
        ours_out, answers = os.pipe()
        # Above the packages, wherever this one is: installed, in a checkout or in a program folder.
        root = Path(__file__).resolve().parents[__name__.count(".")]
        paths = [str(root), *filter(None, [environment.get("PYTHONPATH")])]
        try:
            arguments = [requests, answers, corpus, program, submission]
            self._process = subprocess.Popen(
                [sys.executable, "-m", worker.__name__, *map(str, arguments)],
                cwd=folder,
                env={
                    **environment,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONUNBUFFERED": "1",  # what it prints is not lost when it is ended
                },
                stdin=subprocess.DEVNULL,
                pass_fds=(requests, answers),
                start_new_session=True,
            )
        finally:
            os.close(requests)
            os.close(answers)
        self._requests = os.fdopen(ours_in, "w")
        self._answers = os.fdopen(ours_out)

    def measure(self, task: str, model_id: str) -> float:
        """What the submission's `complexity` says of one model."""
        where = f"{self._name} failed at {task} {model_id}"
        try:
            self._requests.write(json.dumps({"task": task, "model": model_id}) + "\n")
            self._requests.flush()
            line = self._answers.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise SubmissionError(f"{where}: its process ended with code {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise SubmissionError(f"{where}: {answer['error']}")
        return float(answer["value"])

    def __enter__(self) -> SubmissionProcess:
        return self

    def __exit__(self, *unused: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # its session, with what it started
        self._process.wait()
