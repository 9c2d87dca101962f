"""Lines that no run wrote into its record: broken JSON, and JSON of the wrong kind."""

from __future__ import annotations

import json


def _line(**wrong: object) -> bytes:
    return json.dumps({"task": "t", "model": "model_7", "values": {"gi": 1.0}, **wrong}).encode()


DAMAGED_LINES = (
    b"",
    b"\x00" * 20,
    b"{}",
    b"[1]",
    b"garbage",
    b"\xff\xfe\x00",
    b"[" * 200_000,
    b'{"task": "t", "task": "u", "model": "model_7"}',
    _line(values=5),
    _line(values={"gi": "1.0"}),
    _line(values={"gi": True}),
    _line(values={"gi": 10**400}),
    b'{"task": "t", "model": "model_7", "values": {"gi": NaN}}',
    _line(task=3),
    _line(model=None),
    _line(errors=["gi"]),
    _line(errors={"gi": {}}),
    _line(seconds={"gi": None}),
    _line(options={"gi": 3}),
    _line(fingerprints={"gi": 3}),
    _line(model_files="abc"),
    _line(data_files={"glance": "abc"}),
    _line(versions=[]),
    _line(threads="one"),
    _line(curves=5),
    _line(curves=[5]),
    _line(curves=[{"magnitudes": [0.0, 1.0], "accuracy": [1.0]}]),
    _line(curves=[{"magnitudes": [0.0], "accuracy": ["1"]}]),
    _line(curves=[{"magnitudes": [0.0], "accuracy": [1.0], "layer": []}]),
)
