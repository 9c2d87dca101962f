"""Plain values as YAML text, without a YAML library: mappings, lists, text, numbers, booleans.

Text is written as JSON text, which YAML reads as the same text, whatever is in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def yaml_text(mapping: Mapping[str, Any]) -> str:
    """The YAML of a mapping, in its order."""
    return "".join(f"{line}\n" for line in _lines(mapping))


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [line for key, inner in value.items() for line in _entry(f"{key}:", inner)]
    lines = []
    for inner in value:
        first, *rest = _lines(inner) if _is_nested(inner) else [json.dumps(inner)]
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def _entry(key: str, value: Any) -> list[str]:
    if _is_nested(value):
        return [key, *(f"  {line}" for line in _lines(value))]
    return [f"{key} {json.dumps(value)}"]


def _is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) and bool(value)
