"""How many test examples are behind each gap: Hoeffding's m (Dziugaite et al. 2020, App. A).

A corpus has them in `<task>/dataset_1/test/shard_*.tfrecord`. Of several data sets of a task the
one with the fewest examples counts, so that no gap is taken for more precise than it is.
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
        counts = [
            sum(map(_records, shards))
            for folder in dict.fromkeys(beside)
            for test in sorted(folder.glob("dataset_*/test"))
            if (shards := sorted(test.glob("shard_*.tfrecord")))
        ]
        if counts:
            found[task] = min(counts)
    return found


def _records(path: Path) -> int:
    try:
        return count_tfrecords(path)
    except OSError as error:
        raise ScoringError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ScoringError(f"{path} {error}") from error
