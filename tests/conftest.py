"""Signals as a terminal leaves them: tests that send some expect a program to hear them."""

from __future__ import annotations

import signal

# A shell ignores SIGINT for what it starts in the background, `nohup` ignores SIGHUP, and programs
# that a test starts inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
