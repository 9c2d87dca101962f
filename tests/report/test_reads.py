"""A command that scores a run reads each of its files once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from report_runs import FakeRun
from shared_data import PGDL

ROOT = PGDL.parents[2]

# Counts the opened files below a folder and names those that were opened more than once.
COUNTED = """
import collections, os, sys
opened, folder = collections.Counter(), sys.argv.pop(1)
def hear(event, arguments):
    path = str(arguments[0]) if event == "open" else ""
    if path.startswith(folder) and os.path.isfile(path):
        opened[path] += 1
sys.addaudithook(hear)
from starting_kit_adapter.cli.main import entry_point
try:
    entry_point()
finally:
    assert opened, "nothing was read"
    print("again:", [path for path, times in opened.items() if times > 1])
"""


@pytest.mark.parametrize(
    "command",
    [
        "report OUT --reference REF -o PAGE",
        "table OUT --reference REF",
        "score --reference REF --predictions OUT",
        "combine OUT -m knows,guesses --rule avg",
    ],
)
def test_every_file_is_read_once(fake: FakeRun, tmp_path, command: str) -> None:
    places = {"OUT": fake.out, "REF": fake.reference, "PAGE": tmp_path / "page.html"}
    words = [str(places.get(word, word)) for word in command.split()]
    result = subprocess.run(
        [sys.executable, "-c", COUNTED, str(fake.out.parent), *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert "again: []" in result.stdout, result.stdout + result.stderr
