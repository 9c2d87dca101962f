"""What a Codabench compute worker does with a submission, without its containers.

Written anew after reading `compute_worker.py` of codalab/codabench: the folders that it makes, the
commands that it replaces, what it copies where, and that it goes on to scoring whatever the exit
code of the ingestion program was.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from live_processes import PATIENCE

yaml = pytest.importorskip("yaml")

REPLACED = {
    "ingestion": {
        "$input": "/app/input_data",
        "$output": "/app/output",
        "$program": "/app/program",
        "$ingestion_program": "/app/program",
        "$submission_program": "/app/ingested_program",
    },
    "scoring": {
        "$input": "/app/input",
        "$output": "/app/output",
        "$program": "/app/program",
    },
}


class Worker:
    """Runs one submission to the unpacked competition: `predict`, then `score`."""

    def __init__(self, competition: Path, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        self.log = ""  # of all programs
        self._competition, self._environment = competition, environment

    def predict(self, submission: dict[str, str]) -> dict[str, Any]:
        """The prediction step; returns the `metadata` that the worker adds to the output."""
        app = self.root / "prediction"
        program = app / "ingested_program"
        program.mkdir(parents=True)
        for name, text in submission.items():
            (program / name).write_text(text)
        if any((program / name).exists() for name in ("metadata", "metadata.yaml")):
            (app / "output").mkdir()
        else:
            shutil.copytree(program, app / "output")
        (app / "input_data").symlink_to(self._competition / "input_data")
        (app / "program").symlink_to(self._competition / "ingestion_program")
        start = time.monotonic()
        code = self._run(app, "ingestion")
        status = {
            "exitCode": None,
            "elapsedTime": time.monotonic() - start,
            "ingestionExitCode": code,
            "ingestionElapsedTime": time.monotonic() - start,
        }
        self._add_metadata(app / "output", status)
        return status

    def score(self) -> int:
        """The scoring step, whatever became of the prediction; returns its exit code."""
        app = self.root / "scoring"
        (app / "input").mkdir(parents=True)
        (app / "output").mkdir()
        shutil.copytree(self.root / "prediction" / "output", app / "input" / "res")
        (app / "input" / "ref").symlink_to(self._competition / "reference_data")
        (app / "program").symlink_to(self._competition / "scoring_program")
        self._code = self._run(app, "scoring")
        self._add_metadata(app / "output", {"exitCode": self._code})
        return self._code

    @property
    def scores(self) -> dict[str, float] | None:
        """What reaches the leaderboard: nothing if the scoring program failed."""
        if self._code != 0:
            return None
        return json.loads((self.root / "scoring" / "output" / "scores.json").read_text())

    def _run(self, app: Path, kind: str) -> int:
        done = subprocess.run(
            self._command(app, kind),
            cwd=app / "program",
            env={**self._environment, "PYTHONUNBUFFERED": "1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.log += done.stdout + done.stderr
        assert "Traceback" not in done.stderr or kind == "ingestion", done.stderr
        return done.returncode

    def _command(self, app: Path, kind: str) -> list[str]:
        text = yaml.safe_load((app / "program" / "metadata").read_text())["command"]
        for variable, place in REPLACED[kind].items():
            text = text.replace(variable, place)
        python, *arguments = shlex.split(text.replace("/app/", f"{app}/"))
        assert python == "python3"
        return [sys.executable, *arguments]

    @staticmethod
    def _add_metadata(output: Path, status: dict[str, Any]) -> None:
        assert not (output / "metadata").exists()  # or the worker fails
        (output / "metadata").write_text(yaml.dump(status, default_flow_style=False))
