"""`.ci/run` with stand-ins for its steps."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / ".ci" / "run"


def ci(folder: Path, broken: str) -> subprocess.CompletedProcess[str]:
    """Runs it where `make TARGET` fails for the targets named in `broken`."""
    programs = {
        folder / "bin" / "make": f'echo "made $1"; case " {broken} " in *" $1 "*) exit 2 ;; esac',
        folder / "bin" / "docker": "exit 0",
        folder / "bin" / "chromium": "exit 0",
        folder / ".ci" / "image": "echo made image",
    }
    for path, text in programs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    script = shutil.copy(SCRIPT, folder / ".ci" / "run")
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [script], env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60
    )


def test_every_step_is_run_and_the_failed_ones_are_listed_at_the_end(tmp_path: Path) -> None:
    good = ci(tmp_path, broken="")
    assert good.returncode == 0, good.stderr
    steps = [line for line in good.stdout.splitlines() if line.startswith("made ")]
    assert steps[0] == "made lint" and steps[-1] == "made image"
    bad = ci(tmp_path, broken="lint test-ray")
    assert bad.returncode == 1
    assert [line for line in bad.stdout.splitlines() if line.startswith("made ")] == steps
    assert bad.stdout.count(" seconds\n") == len(steps)
    assert bad.stdout.splitlines()[-2:] == [f"CI: failed: make {x}" for x in ("lint", "test-ray")]
