"""The files that a run writes. An interruption at any moment loses no finished result.

    OUT/records.jsonl              one line per model and attempt, appended and synced to the disk
    OUT/<measure>/<task>.predict   the starting kit's format, written whole or not at all
    OUT/run.json                   the settings of the last run

Predictions are written from the record, and a run resumes from it. It is only ever
appended to, by one run at a time. A last line that was cut off is removed when the next run opens
the record. Any other damaged line stays where it is, is named, and costs the results that it held.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from pgdl_measures.errors import PgdlError
from scoring.files import replace_file
from scoring.record import RECORDS, RUN, Line, parse_lines


class StoreError(PgdlError):
    """Results cannot be read or written."""


class Store:
    """The output folder of a run, open for one run at a time."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.lines: list[Line] = []
        self.problems: list[str] = []
        self._path = out / RECORDS
        self._file = -1

    def __enter__(self) -> Store:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise StoreError(f"cannot write to {self.out}: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise StoreError(
                    f"{self._path} is not a regular file: choose another output folder"
                )
            self._lock()
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)  # releases the lock

    def append(self, line: Line) -> None:
        """Adds a line and waits until it is on the disk; a line that does not fit is removed."""
        data = line.encode()
        before = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise StoreError(
                f"cannot write {self._path}: {error.strerror}. What was finished before is kept; "
                "the same command continues from there"
            ) from error
        self.lines.append(line)

    def write_predictions(self, measure: str, task: str, values: Mapping[str, float | str]) -> None:
        """Writes one `.predict` file."""
        write_json(self._predictions(measure, task), values)

    def remove_predictions(self, measure: str, task: str) -> None:
        """Removes a `.predict` file, if it is there."""
        path = self._predictions(measure, task)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot remove {path}: {error.strerror}") from error

    def write_run(self, settings: Mapping[str, Any]) -> None:
        """Writes `run.json`."""
        write_json(self.out / RUN, settings)

    def _predictions(self, measure: str, task: str) -> Path:
        return self.out / measure / f"{task}.predict"

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"another run is writing to {self.out}; wait for it or choose another output folder"
            ) from error
        except OSError as error:  # some file systems of clusters have no locks
            self.problems.append(
                f"{self._path} cannot be locked ({error.strerror}): make sure that no other run "
                "writes to it"
            )

    def _read(self) -> None:
        found = parse_lines(self._path.read_bytes(), self._path)
        os.ftruncate(self._file, found.size)
        self.lines = found.lines
        self.problems += found.problems


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a JSON file whole or not at all, and waits until it is on the disk."""
    try:
        replace_file(path, f"{json.dumps(content, indent=1)}\n".encode())
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
