"""SIGTERM and SIGHUP end a program as Ctrl-C does: what is finished is kept, workers are ended.

`kill`, a closed terminal, a batch system and `docker stop` send these; Python would end at once.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class StoppedError(KeyboardInterrupt):
    """A signal to stop, raised where Ctrl-C would have been."""

    def __init__(self, number: int) -> None:
        self.number = signal.Signals(number)
        super().__init__(self.number.name)


def stop_as_interrupted() -> None:
    """From now on these signals raise `StoppedError`, where they are not ignored (`nohup`)."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def tell_stopped(error: KeyboardInterrupt, then: str = "run the same command to resume") -> int:
    """Says that the program was stopped, by which signal, and `then`; returns its exit code.

    The code is a shell's for that signal: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
    """
    if isinstance(error, StoppedError):
        cause, number = f"stopped by {error.number.name}", error.number
    else:
        cause, number = "interrupted", signal.SIGINT
    print(f"{cause}; {then}", file=sys.stderr)
    return 128 + number


def _stop(number: int, frame: FrameType | None) -> None:
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)  # the end is under way
    raise StoppedError(number)
