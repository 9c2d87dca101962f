"""How many test examples are behind each gap: the m of Hoeffding's inequality (003, App. A).

A corpus has them in `<task>/dataset_1/test/shard_*.tfrecord`. A TFRecord file is a row of records,
each a length (8 bytes), its checksum (4), so many bytes, and their checksum (4); to count them only
the lengths are read.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from scoring.errors import ScoringError
from scoring.reference import find_references

_LENGTH = struct.Struct("<Q")


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
    records, position, size = 0, 0, path.stat().st_size
    with path.open("rb") as file:
        while position < size:
            file.seek(position)
            head = file.read(_LENGTH.size)
            if len(head) == _LENGTH.size:
                position += _LENGTH.unpack(head)[0] + 16
            if len(head) < _LENGTH.size or position > size:
                raise ScoringError(f"{path} is not a whole TFRecord file: it ends in a record")
            records += 1
    return records
