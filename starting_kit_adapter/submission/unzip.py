"""Unpacks a submission that somebody else has zipped, without trusting it.

Every entry is checked before the first is written: names that lead out of the folder, links and
other special files, entries that would overwrite each other, and more data than a submission has
any reason to hold. What is written is limited by what the entries declared, which was added up.
"""

from __future__ import annotations

import re
import shutil
import stat
import zipfile
from pathlib import Path, PurePosixPath

from ingestion.errors import DAMAGED_ARCHIVE
from starting_kit_adapter.submission.errors import SubmissionError

MAX_BYTES = 1024**3  # unpacked; submissions may carry weights of helper networks
MAX_FILES = 10_000


def unzip(archive: Path, folder: Path) -> None:
    """Unpacks `archive` into the empty `folder`, if none of its entries is refused."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = _checked(opened, archive)
            for entry in entries:
                target = folder.joinpath(*PurePosixPath(entry.filename).parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, target.open("xb") as file:
                    shutil.copyfileobj(source, file)
    except (*DAMAGED_ARCHIVE, ValueError, OSError) as error:
        raise SubmissionError(f"{archive} cannot be unpacked: {error}") from error


def _checked(opened: zipfile.ZipFile, archive: Path) -> list[zipfile.ZipInfo]:
    entries = opened.infolist()
    if len(entries) > MAX_FILES:
        raise SubmissionError(f"{archive} has {len(entries)} entries; at most {MAX_FILES} are read")
    size = sum(entry.file_size for entry in entries)
    if size > MAX_BYTES:
        raise SubmissionError(f"{archive} unpacks to {size} bytes; at most {MAX_BYTES} are written")
    names = set()
    for entry in entries:
        problem = _problem(entry)
        if problem:
            raise SubmissionError(f"{archive}: entry {entry.filename!r} {problem}")
        name = entry.filename.rstrip("/").casefold()
        if name in names:
            raise SubmissionError(f"{archive}: entry {entry.filename!r} is there twice")
        names.add(name)
    return [entry for entry in entries if not entry.is_dir()]


def _problem(entry: zipfile.ZipInfo) -> str:
    name = entry.filename
    parts = PurePosixPath(name).parts
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if not parts or name.startswith("/") or "\\" in name or re.match(r"[A-Za-z]:", name):
        return "is not a relative path"
    if ".." in parts:
        return "leads out of its folder"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a special file"
    if entry.flag_bits & 0x1:
        return "is encrypted"
    return ""
