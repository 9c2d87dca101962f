"""Plain values as YAML text, without a YAML library: mappings, lists, text, numbers, booleans.

Text is written as JSON text, which YAML reads as the same text, whatever is in it. Characters past
U+FFFF, such as emoji, stay as they are: JSON escapes them in two parts, which YAML does not join.
"""

from __future__ import annotations

import json
import re
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
        first, *rest = _lines(inner) if _is_nested(inner) else [_plain(inner)]
        lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def _entry(key: str, value: Any) -> list[str]:
    if _is_nested(value):
        return [key, *(f"  {line}" for line in _lines(value))]
    return [f"{key} {_plain(value)}"]


def _plain(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    escaped = re.sub("[^\U00010000-\U0010ffff]+", lambda found: json.dumps(found[0])[1:-1], value)
    return f'"{escaped}"'


def _is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) and bool(value)
