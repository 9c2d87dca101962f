"""Is a recorded value still the value? It depends on the measure's settings and on the files read.

Settings are compared by a digest of the measure's code, what is fixed in it and the chosen options.
Files are compared as git does: the same sizes and times mean unchanged; where those differ - a copy
of the corpus, a touched file - the contents decide.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pgdl_measures.base import Measure
from scoring.record import Stamp

MODEL_FILES = ("config.json", "weights.hdf5", "weights_init.hdf5")
_READ = 1 << 20


def stamp(files: Sequence[Path]) -> Stamp:
    """What the files are like now; reads them."""
    return Stamp(glance(files), content(files))


class FileCheck:
    """Compares files with stamps of earlier runs, looking at no file twice."""

    def __init__(self) -> None:
        self._glance, self._content = cache(glance), cache(content)

    def unchanged(self, files: Sequence[Path], stamp: Stamp) -> bool:
        """Whether the files are what they were."""
        key = tuple(files)
        return self._glance(key) == stamp.glance or self._content(key) == stamp.content


def model_files(folder: Path) -> list[Path]:
    """The files of a model that are there."""
    return [folder / name for name in MODEL_FILES if (folder / name).is_file()]


def glance(files: Iterable[Path]) -> str:
    """A digest of names, sizes and times of change."""
    stats = [(path.name, path.stat()) for path in files]
    return digest([[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats])


def content(files: Iterable[Path]) -> str:
    """A digest of names and contents."""
    return digest([[path.name, _content(path)] for path in files])


def settings(measure: Measure) -> str:
    """A digest of all that makes a measure give other values for the same model and data."""
    return digest(
        [
            measure.target,
            dict(measure.fixed),
            dict(measure.options),
            measure.max_bytes,
            *map(code_version, [measure.target, *_own_perturbation(measure)]),
        ]
    )


def _own_perturbation(measure: Measure) -> list[str]:
    """Where the code of a user's perturbation is: in the module that registers it, by which it is
    named, and in that of its function."""
    named = [value for value in measure.fixed.values() if isinstance(value, str) and ":" in value]
    if not named:
        return []
    from pgdl_measures.perturbations.catalogue import perturbation  # needs TensorFlow, as theirs

    functions = [perturbation(name).function for name in named]
    return [*named, *(f"{function.__module__}:{function.__name__}" for function in functions)]


def code_version(target: str) -> str:
    """The toolkit's version for its own measures; for a user's own, a digest of the module."""
    module = target.split(":")[0]
    if module.split(".")[0] == "pgdl_measures":
        return toolkit_version()
    spec = importlib.util.find_spec(module)
    # Modules that are part of the interpreter have no file.
    return _content(Path(spec.origin)) if spec and spec.has_location and spec.origin else "unknown"


def toolkit_version() -> str:
    """The installed version; a checkout that is not installed has none."""
    try:
        return importlib.metadata.version("pgdl-measures")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def digest(value: Any) -> str:
    """A short digest of plain values."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _content(path: Path) -> str:
    hasher = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(_READ):
            hasher.update(block)
    return hasher.hexdigest()
