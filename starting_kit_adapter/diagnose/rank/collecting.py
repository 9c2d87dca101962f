"""Reads the models to rank in a process of its own: one that hangs or ends the process
does not affect the others."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingestion.processes import ChildProcess, cause_of_end, import_paths
from pgdl_measures.errors import PgdlError

if TYPE_CHECKING:
    from starting_kit_adapter.diagnose.rank.collection import Member

_COLLECTOR = "starting_kit_adapter.diagnose.rank.collector"
_LOOK = 0.1  # seconds between two checks of time and memory
_LAST_MOMENT = 1.0  # seconds in which a process ends after it closed its connection


@dataclass(frozen=True)
class Order:
    """What is read: the data, then the models by name, into a corpus at `root`."""

    root: Path
    paths: Mapping[str, Path]
    source: str
    image_size: int | None
    scale: str
    custom: Sequence[str]


@dataclass(frozen=True)
class Facts:
    """What a ranking needs to know of its data."""

    shape: tuple[int, ...]  # of one example
    chance: float  # the accuracy of a guess
    examples: int  # for training


class _EndedError(Exception):
    """The process has ended, or had to be ended."""


class Collecting:
    """The reading of an order; its context ends it."""

    def __init__(self, order: Order, seconds: float, memory: int | None) -> None:
        """Starts it. A model may take `seconds` between two messages, and `memory` bytes."""
        self._order, self._seconds, self._memory = order, seconds, memory
        self._start()

    def __enter__(self) -> Collecting:
        return self

    def __exit__(self, *unused: object) -> None:
        self._child.close()

    def facts(self) -> Facts:
        """What the data are, once they are read; raises where they cannot be used."""
        try:
            answer = self._receive(math.inf)
        except _EndedError as error:
            raise PgdlError(f"{self._order.source} could not be read: {error}") from error
        if isinstance(answer, str):
            raise PgdlError(answer)
        return answer

    def members(self, step: Callable[[str], None]) -> tuple[list[Member], dict[str, str]]:
        """The models, and why some of them could not be taken; `step` is called after each."""
        members, refused, names = [], {}, list(self._order.paths)
        for i, name in enumerate(names):
            try:
                while (answer := self._receive(self._seconds)) is None:
                    pass
            except _EndedError as error:
                answer = f"{self._order.paths[name]}: {error}"
                self._child.close()
                left = {name: self._order.paths[name] for name in names[i + 1 :]}
                if left:
                    self._order = replace(self._order, paths=left)
                    self._start()
                    self.facts()
            if isinstance(answer, str):
                refused[name] = answer
            else:
                members.append(answer)
            step(name)
        return members, refused

    def _start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": import_paths()}
        self._child = ChildProcess(_COLLECTOR, environment=environment)
        self._child.connection.send(self._order)

    def _receive(self, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while not self._child.connection.poll(_LOOK):
            if self._memory is not None and self._child.memory() > self._memory:
                raise _EndedError("stopped at the --memory-limit while it was read")
            if time.monotonic() > deadline:
                raise _EndedError(f"stopped after {seconds:g} seconds while it was read")
        try:
            return self._child.connection.recv()
        except (EOFError, OSError) as error:
            code = self._child.exit_code(_LAST_MOMENT)
            raise _EndedError(cause_of_end(code)) from error
