"""A submission zip never writes outside of its folder, and a bad one writes nothing at all."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from starting_kit_adapter.submission import unzip as module
from starting_kit_adapter.submission.errors import SubmissionError
from starting_kit_adapter.submission.unzip import unzip


def write(path: Path, *names: str, mode: int = 0, content: bytes = b"text") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("complexity.py", b"")
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.filename = name  # ZipInfo itself would repair some
            entry.external_attr = mode << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    return inside


def test_files_and_folders_are_unpacked(tmp_path):
    target = folder(tmp_path)
    unzip(write(tmp_path / "good.zip", "data/", "data/deep/a.txt"), target)
    assert (target / "complexity.py").is_file()
    assert (target / "data" / "deep" / "a.txt").read_bytes() == b"text"


@pytest.mark.parametrize(
    ("name", "mode", "message"),
    [
        ("../out.txt", 0, "leads out of its folder"),
        ("data/../../out.txt", 0, "leads out of its folder"),
        ("/tmp/out.txt", 0, "is not a relative path"),
        ("C:/out.txt", 0, "is not a relative path"),
        ("..\\out.txt", 0, "is not a relative path"),
        ("link", stat.S_IFLNK | 0o777, "is a link or a special file"),
        ("pipe", stat.S_IFIFO | 0o666, "is a link or a special file"),
        ("complexity.py", 0, "is there twice"),
        ("Complexity.py", 0, "is there twice"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_what_is_refused(name, mode, message, tmp_path):
    target = folder(tmp_path)
    archive = write(tmp_path / "bad.zip", name, mode=mode)
    with pytest.raises(SubmissionError, match=rf"bad\.zip: entry .* {message}"):
        unzip(archive, target)
    assert not list(target.iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"inside", "bad.zip"}


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    target = folder(tmp_path)
    monkeypatch.setattr(module, "MAX_BYTES", 1_000_000)
    archive = write(tmp_path / "bomb.zip", "zeros", content=bytes(2_000_000))
    assert archive.stat().st_size < 10_000
    with pytest.raises(SubmissionError, match=r"unpacks to 2000000 bytes"):
        unzip(archive, target)
    assert not list(target.iterdir())


def test_too_many_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILES", 3)
    archive = write(tmp_path / "many.zip", "a", "b", "c")
    with pytest.raises(SubmissionError, match="has 4 entries"):
        unzip(archive, folder(tmp_path))


def test_a_file_that_is_a_folder_too(tmp_path):
    with pytest.raises(SubmissionError, match=r"both\.zip cannot be unpacked"):
        unzip(write(tmp_path / "both.zip", "data", "data/a.txt"), folder(tmp_path))


def test_what_is_no_zip_is_named(tmp_path):
    (tmp_path / "text.zip").write_text("not a zip")
    with pytest.raises(SubmissionError, match=r"text\.zip cannot be unpacked"):
        unzip(tmp_path / "text.zip", folder(tmp_path))
