"""Measures that misbehave on marked models and are honest on all others."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time

import numpy as np

from pgdl_measures.base import Subject

HANG, ALLOCATE, CRASH, NAN, RAISE, ORPHAN = 1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0


def faulty(subject: Subject, *, seconds: float = 0.0) -> float:
    """The mean output, whose last bits depend on everything that was computed."""
    mark = round(float(subject.model.get_weights()[-1][0]), -3)
    time.sleep(seconds)
    if mark == HANG:
        time.sleep(3600)
    if mark == ALLOCATE:
        hoard = []
        while True:
            hoard.append(np.ones(10_000_000))
    if mark == CRASH:
        ctypes.string_at(0)
    if mark == NAN:
        return float("nan")
    if mark == RAISE:
        raise ValueError("this model is not to my taste")
    if mark == ORPHAN:
        leave_an_orphan()
    return honest(subject)


def honest(subject: Subject) -> float:
    """The mean output of every model, marked or not."""
    return float(np.asarray(subject.network.run(subject.data.inputs)).mean())


def leave_an_orphan() -> None:
    """Dies while a process that it started, and that has all of its pipes, lives on."""
    child = os.fork()
    if child == 0:
        os.setsid()  # out of reach of a signal to the worker's session
        time.sleep(3600)
    print(f"orphan {child}", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
