"""Files at the edge of this room: strict JSON in, whole files out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from scoring.errors import ScoringError

_JUNK = (".DS_Store", "__MACOSX", "._")  # what macOS leaves in folders and archives


def is_junk(path: Path) -> bool:
    """True for the operating system's own files, which no corpus means."""
    return path.name.startswith(_JUNK)


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or a `ScoringError` that names the file and what is wrong."""
    try:
        content = json.loads(path.read_bytes(), object_pairs_hook=_without_doubles)
    except OSError as error:
        raise ScoringError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # broken JSON, broken UTF-8, a doubled key
        raise ScoringError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ScoringError(f"{path} holds a JSON {type(content).__name__}, not an object")
    return content


def write_whole(path: Path, text: str) -> None:
    """Writes a file in one step: a reader sees the old text or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ScoringError(f"cannot write {path}: {error.strerror}") from error


def model_name(key: str) -> str:
    """`model_<id>`, whether or not the file's key says `model_`."""
    return key if key.startswith("model_") else f"model_{key}"


def _without_doubles(items: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(items)
    if len(content) < len(items):
        keys = [key for key, _ in items]
        double = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {double!r} stands in it twice")
    return content
