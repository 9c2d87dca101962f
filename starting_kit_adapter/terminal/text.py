"""Text on the terminal: aligned tables, a progress line, durations."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from pgdl_measures.text_table import table

__all__ = ["Progress", "as_sentence", "duration", "progress_line", "table"]


_QUIET_SECONDS = 60  # between two progress lines in a log file


class Progress:
    """A progress line: rewritten in place on a terminal, elsewhere printed once a minute."""

    def __init__(self, total: int, what: str, stream: TextIO | None = None) -> None:
        self.total, self._what, self._stream = total, what, stream or sys.stderr
        self._live = self._stream.isatty()
        self._first = self._printed = time.monotonic()
        self._done = self._failed = 0

    def step(self, note: str = "", *, failed: bool = False) -> None:
        """Counts one more as done; `note` names it."""
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        if self._done == 1:
            self._first = now  # what came before is the start of workers, too
        line = progress_line(
            self._done, self._failed, self.total, self._what, now - self._first, note
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
    """Done and failed so far, the rate, and the estimated time left; `seconds` since the first."""
    parts = [f"{done}/{total} {what}"]
    if failed:
        parts.append(f"{failed} failed")
    if done > 1 and seconds >= 1:
        parts.append(f"{60 * (done - 1) / seconds:.3g}/min")
        parts.append(f"{duration(seconds / (done - 1) * (total - done))} left")
    return ", ".join(parts) + (f"  {note}" if note else "")


def as_sentence(text: str) -> str:
    """The text with a full stop, unless it is a question."""
    return text if text.endswith("?") else f"{text}."


def duration(seconds: float) -> str:
    """Minutes and seconds, or hours too: `1:05`, `2:00:00`."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
