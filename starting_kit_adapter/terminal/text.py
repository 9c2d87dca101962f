"""Text on the terminal: aligned tables, a progress line, durations."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TextIO


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An aligned table: numbers to the right, words to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *cells)]
    numeric = [
        bool(rows) and all(isinstance(v, (int, float)) or v is None for v in column)
        for column in (zip(*rows) if rows else [()] * len(headers))
    ]

    def line(values: Sequence[str]) -> str:
        aligned = [
            value.rjust(width) if right else value.ljust(width)
            for value, width, right in zip(values, widths, numeric)
        ]
        return "  ".join(aligned).rstrip()

    return "\n".join([line(headers), line(["-" * w for w in widths]), *map(line, cells)])


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


_QUIET_SECONDS = 60  # between two progress lines in a log file


class Progress:
    """A progress line: rewritten in place on a terminal, elsewhere printed once a minute."""

    def __init__(self, total: int, what: str, stream: TextIO = sys.stderr) -> None:
        self.total, self._what, self._stream = total, what, stream
        self._live = stream.isatty()
        self._start = self._printed = time.monotonic()
        self._done = self._failed = 0

    def step(self, note: str = "", *, failed: bool = False) -> None:
        """Counts one more as done; `note` names it."""
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        line = progress_line(
            self._done, self._failed, self.total, self._what, now - self._start, note
        )
        if self._live:
            self._write(line)
        elif now - self._printed > _QUIET_SECONDS:
            self._printed = now
            print(line, file=self._stream, flush=True)

    def close(self) -> None:
        """Clears the line, so that the next output takes its place."""
        if self._live:
            self._write("")

    def __enter__(self) -> Progress:
        if self._live:
            self._write(f"{self._what} …")
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()


def progress_line(done: int, failed: int, total: int, what: str, seconds: float, note: str) -> str:
    """Done and failed so far, the rate, and the estimated time left."""
    parts = [f"{done}/{total} {what}"]
    if failed:
        parts.append(f"{failed} failed")
    parts.append(f"{60 * done / max(seconds, 1e-3):.3g}/min")
    parts.append(f"{duration(seconds / done * (total - done))} left")
    return ", ".join(parts) + (f"  {note}" if note else "")


def as_sentence(text: str) -> str:
    """The text with a full stop, unless it is a question."""
    return text if text.endswith("?") else f"{text}."


def duration(seconds: float) -> str:
    """Minutes and seconds, or hours too: `1:05`, `2:00:00`."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
