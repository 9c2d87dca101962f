"""Runs a reader on mutations of a valid file: only a value or an error of ours may come of it.

The inputs are the same in every run, so that what passes once passes again; `PGDL_FUZZ=20` runs
twenty times as many others. How many each reader has had is in docs/reliability.md.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

from pgdl_measures.errors import PgdlError
from scoring.errors import ScoringError

_TIMES = int(os.environ.get("PGDL_FUZZ", "1"))


def fuzz(name: str, read: Callable[[Any], object], inputs: SearchStrategy[Any], count: int) -> None:
    """Calls `read` with `count` inputs, and prints how many were read and how many refused."""
    outcomes = {"read": 0, "refused": 0}

    @seed(_TIMES)
    @settings(
        max_examples=count * _TIMES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def once(data: Any) -> None:
        try:
            read(data)
        except (PgdlError, ScoringError) as error:
            assert str(error)
            outcomes["refused"] += 1
        else:
            outcomes["read"] += 1

    once()
    print(f"fuzzed {name}: {sum(outcomes.values())} inputs, {outcomes['refused']} refused")
