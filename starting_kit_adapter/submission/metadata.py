"""A submission's `metadata`: a description, and no command.

Codabench runs a `command` that it finds there in a container of its own, at the same time as the
ingestion program and with the folder of the predictions mounted: such a submission could write
whatever predictions it likes. Read without a YAML library, so only plain lines are accepted.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from starting_kit_adapter.submission.errors import SubmissionError

_NAMES = ("metadata", "metadata.yaml")
_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:([ \t].*)?")


def check_metadata(submission: Path) -> None:
    """Raises a `SubmissionError` if the submission's metadata has, or may hide, a command."""
    for path in (submission / name for name in _NAMES):
        if not os.path.lexists(path):
            continue
        if not path.is_file():  # a pipe might never end
            raise SubmissionError(f"{path} is not a regular file; expected one line of text")
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise SubmissionError(f"cannot read {path}: {error}") from error
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        for number, line in enumerate(lines):
            if number and line[0] in " \t":
                continue  # part of the value before it
            found = _KEY.fullmatch(line)
            if not found:
                raise SubmissionError(f"{path}: found {line[:80]!r}; expected `description: ...`")
            if found[1] == "command":
                raise SubmissionError(
                    f"{path} has a command, which a platform would run beside this program: remove "
                    "it, only complexity.py is called"
                )
