"""Mutations of valid files: bytes that were damaged, JSON that holds something else.

Hypothesis draws them, so that the first failing input is made as small as possible.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

# Written into the text afterwards: `json.dumps` itself would fail on them.
_TEXTS = {
    "@deep list@": "[" * 100_000 + "]" * 100_000,
    "@deep object@": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "@cut off@": "[" * 100_000,
    "@many digits@": "9" * 5_000,
    "@many digits of a float@": "9" * 400,
    "@more than a float@": "1e999",
}
ODD_VALUES = (
    *(None, True, False, 0, -1, 1, 2.5, -0.0, 10**25, 2**63, 1e300, float("nan"), float("inf")),
    *("", "x", "model_0", "1", "\x00", "\ud800", "../..", "x" * 5_000, "EXCEEDED"),
    *([], [[]], [None], [1, "a"], {}, {"": {}}, {"a": [1]}, *_TEXTS),
)
_BYTE_EDITS = ("flip", "cut", "insert", "remove", "repeat", "zero", "fill")


@st.composite
def damaged_bytes(draw: st.DrawFn, valid: bytes, first: int = 0) -> bytes:
    """`valid` after up to six edits, none of them before byte `first`."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 6))):
        edit = draw(st.sampled_from(_BYTE_EDITS))
        place = draw(st.integers(first, max(first, len(data) - 1)))
        length = draw(st.sampled_from([1, 2, 4, 8, 64]))
        if edit == "flip" and place < len(data):
            data[place] ^= 1 << draw(st.integers(0, 7))
        elif edit == "cut":
            del data[place:]
        elif edit == "insert":
            data[place:place] = draw(st.binary(min_size=1, max_size=length))
        elif edit == "remove":
            del data[place : place + length]
        elif edit == "repeat":
            data[place:place] = data[place : place + 16 * length]
        elif edit == "zero":
            data[place : place + length] = bytes(len(data[place : place + length]))
        elif edit == "fill":
            data[place : place + length] = b"\xff" * len(data[place : place + length])
    return bytes(data)


@st.composite
def odd_json(draw: st.DrawFn, valid: Any) -> bytes:
    """JSON like `valid`, in which up to three parts are missing, renamed or something else."""
    holder = {"": copy.deepcopy(valid)}
    for _ in range(draw(st.integers(1, 3))):
        at: Any = holder
        key: Any = ""
        while isinstance(at[key], (dict, list)) and at[key] and draw(st.integers(0, 5)):
            at = at[key]
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = draw(st.sampled_from(keys))
        edit = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
        if edit == "replace" or at is holder:
            at[key] = copy.deepcopy(draw(st.sampled_from(ODD_VALUES)))
        elif edit == "remove" or isinstance(at, list):
            del at[key]
        else:
            at[str(draw(st.sampled_from(ODD_VALUES)))] = at.pop(key)
    text = json.dumps(holder[""])
    for mark, replacement in _TEXTS.items():
        text = text.replace(json.dumps(mark), replacement)
    return text.encode()


def damaged_json(valid: Any) -> st.SearchStrategy[bytes]:
    """Odd content in whole JSON, or any damage to its bytes."""
    return st.one_of(odd_json(valid), odd_json(valid), damaged_bytes(json.dumps(valid).encode()))
