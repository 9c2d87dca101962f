"""How many test examples are behind each gap: Hoeffding's m (Dziugaite et al. 2020, App. A).

A corpus has them in `<task>/dataset_1/test/shard_*.tfrecord`.
"""

from __future__ import annotations

import os
from pathlib import Path

from scoring.errors import ScoringError
from scoring.files import count_tfrecords
from scoring.kit.reference import find_references


def examples_behind_gaps(reference: str | Path) -> dict[str, int]:
    """The number of test examples of each task of a corpus that has them."""
    found = {}
    # "." has no parents; a link stays where it is, beside its inputs.
    for task, path in find_references(os.path.abspath(reference)).items():
        beside = (path.parent, path.parent.parent.parent / "input_data" / task)
        shards = [
            shard
            for folder in dict.fromkeys(beside)
            for shard in sorted((folder / "dataset_1" / "test").glob("shard_*.tfrecord"))
        ]
        if shards:
            found[task] = sum(map(_records, shards))
    return found


def _records(path: Path) -> int:
    try:
        return count_tfrecords(path)
    except OSError as error:
        raise ScoringError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ScoringError(f"{path} {error}") from error
