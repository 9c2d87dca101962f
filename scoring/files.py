"""Reading and writing files, for scoring and ingestion: strict JSON in, whole files out.

`parse_json`, `load_json`, `replace_file` and `count_tfrecords` raise ValueError and OSError, of
which each package makes an error of its own; the other functions raise `ScoringError`.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import os
import stat
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from scoring.errors import ScoringError

_JUNK = (".DS_Store", "__MACOSX", "._")  # what macOS leaves in folders and archives
_LENGTH = struct.Struct("<Q")
_DIGITS = 300  # a float holds integers of up to 308
_LONGEST = 80  # characters of a value in a message
_LARGEST_JSON = 1 << 28  # bytes; 5,000 models of 10 hyperparameters have a hundredth of that


def is_junk(path: Path) -> bool:
    """True for files of the operating system, which are not part of a corpus."""
    return path.name.startswith(_JUNK)


def short(value: Any) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def listed(names: Iterable[object], most: int = 5) -> str:
    """Names in a message: the first ones, and how many more there are."""
    texts = list(map(str, names))
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The known names that are like an unknown one, as a question; else all of them."""
    known = list(known)
    near = difflib.get_close_matches(name, known)
    return f"did you mean {' or '.join(near)}?" if near else f"found {', '.join(known)}"


def is_finite_number(value: Any) -> bool:
    """Whether a JSON value is a number that a float holds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def parse_json(data: bytes | str) -> Any:
    """Any JSON value; a ValueError for broken JSON or UTF-8, a doubled key, endless nesting, or an
    integer that no float holds."""
    try:
        return json.loads(data, object_pairs_hook=_without_doubles, parse_int=_integer)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def load_json(path: Path, largest: int = _LARGEST_JSON) -> Any:
    """The JSON value in a regular file; a pipe or a device, which may never end, is not opened."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    if status.st_size > largest:
        raise ValueError(f"it has {status.st_size} bytes; expected at most {largest}")
    return parse_json(path.read_bytes())


def read_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or a `ScoringError` that names the file and what is wrong."""
    try:
        content = load_json(path)
    except OSError as error:
        raise ScoringError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ScoringError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ScoringError(f"{path} holds a JSON {type(content).__name__}, not an object")
    return content


def replace_file(path: Path, data: bytes) -> None:
    """Writes a file in one step, as `replacing` does."""
    with replacing(path) as file:
        file.write(data)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that becomes `path` in one step, once it is on the disk.

    Whatever happens meanwhile, a reader sees the old content or the new one, never a part.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.tmp"  # `.` has no name to change
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def write_whole(path: Path, text: str) -> None:
    """Replaces a text file, or raises a `ScoringError`.

    Names of files may hold bytes that are no UTF-8; they are written as `\\udc..`.
    """
    try:
        replace_file(path, text.encode(errors="backslashreplace"))
    except OSError as error:
        raise ScoringError(f"cannot write {path}: {error.strerror}") from error


def write_json(path: Path, content: Any) -> None:
    """Replaces a JSON file, as `write_whole` does."""
    write_whole(path, json.dumps(content, indent=1) + "\n")


def count_tfrecords(path: Path) -> int:
    """The records of a TFRecord file; a ValueError says which one is cut off.

    A record is a length (8 bytes), its checksum (4), so many bytes, and their checksum (4). Only
    the lengths are read.
    """
    records, position, size = 0, 0, path.stat().st_size
    with path.open("rb") as file:
        while position < size:
            file.seek(position)
            header = file.read(_LENGTH.size)
            length = _LENGTH.unpack(header)[0] if len(header) == _LENGTH.size else size
            position += length + 16
            if position > size:
                raise ValueError(f"is cut off or damaged in record {records}")
            records += 1
    return records


def model_name(key: str) -> str:
    """`model_<id>`, whether or not the file's key says `model_`."""
    return key if key.startswith("model_") else f"model_{key}"


def _integer(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError(f"an integer has {len(text)} digits")
    return int(text)


def _without_doubles(items: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(items)
    if len(content) < len(items):
        counts = Counter(key for key, _ in items)
        raise ValueError(f"the key {counts.most_common(1)[0][0]!r} occurs twice")
    return content
