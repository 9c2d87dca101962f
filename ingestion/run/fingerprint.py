"""Is a recorded value still valid? That depends on the measure's settings and on the files read.

Settings are compared by a digest of the measure's code and options. Files are compared as git does:
the same sizes, times and contents of small files mean unchanged; where those differ - a copy of the
corpus, a touched file - all contents decide. The time of the last change of the inode (ctime) is
among the times, because no program can set it back.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ingestion.corpus import MODEL_FILES
from ingestion.errors import CorpusError
from ingestion.model_files.custom import custom_files
from ingestion.run.digests import code_digest, digest, file_digest
from ingestion.source_closure import closure, is_ours
from pgdl_measures.base import Measure
from pgdl_measures.registry import measures
from scoring.record import Stamp

REGISTRY = "pgdl_measures.registry"

_DECODERS = ("pgdl_measures.base", "ingestion.model_files.models", "ingestion.datasets.data")
_LARGEST_CONFIG = 1 << 26  # bytes
_CUSTOM_LAYER = re.compile(rb'"module":\s*"(custom|builtins)"')
_SMALL = 1 << 16  # bytes; reading so many takes as long as opening the file


def stamp(files: Sequence[Path]) -> Stamp:
    """The stamp of the files as they are now; reads them."""
    try:
        return Stamp(glance(files), content(files))
    except OSError as error:
        path = Path(error.filename or files[0].parent)
        raise CorpusError(path, f"cannot be read ({error.strerror})") from error


class FileCheck:
    """Compares files with the stamps of earlier runs; each file is looked at once."""

    def __init__(self) -> None:
        self._glance, self._content = cache(glance), cache(content)

    def unchanged(self, files: Sequence[Path], stamp: Stamp) -> bool:
        """Whether the files are those of the stamp; one that cannot be read is another one."""
        key = tuple(files)
        try:
            return self._glance(key) == stamp.glance or self._content(key) == stamp.content
        except OSError:
            return False


def model_files(folder: Path, custom: Sequence[str] = ()) -> list[Path]:
    """The files of a model that are there, and the modules of the layers that are not Keras' own.

    So a model that could not be built is tried again when its module is named, and one whose module
    changed is computed again.
    """
    files = [folder / name for name in MODEL_FILES if os.path.isfile(folder / name)]
    if custom and files and _has_custom_layers(files[0]):
        files += custom_files(tuple(custom))
    return files


def _has_custom_layers(config: Path) -> bool:
    """False where it cannot be read or is absurdly large: that is said when the model is loaded."""
    try:
        small = config.stat().st_size <= _LARGEST_CONFIG
        return small and bool(_CUSTOM_LAYER.search(config.read_bytes()))
    except OSError:
        return False


def glance(files: Iterable[Path]) -> str:
    """A digest of names, sizes and times of change, and of the contents of small files."""
    return digest([_glance(path) for path in files])


def content(files: Iterable[Path]) -> str:
    """A digest of names and contents."""
    return digest([[path.name, file_digest(path)] for path in files])


def settings(measure: Measure) -> str:
    """A digest of all that makes a measure give other values for the same model and data.

    That is what is fixed in it, the options that were set, and the code: of the measure, of what
    it imports, and of the decoders of models and data. The documentation of a measure is not part
    of it, nor is the number of threads, which the record has beside it.
    """
    return digest(
        [
            measure.target,
            dict(measure.fixed),
            dict(measure.options),
            measure.sign,
            measure.max_bytes,
            _closure_digest([*_DECODERS, *_modules(measure)]),
        ]
    )


def _closure_digest(modules: Iterable[str]) -> str:
    """A digest of the modules and of all that they import within the toolkit or beside them.

    Comments, docstrings, layout and the texts of errors do not count. A module that imports the
    registry may ask for any measure: then the code of all built-in measures counts.
    """
    requested = list(modules)
    found = closure(requested)
    registered: list[Any] = []
    if REGISTRY in found:
        built_in = [measure for measure in measures() if all(map(is_ours, _modules(measure)))]
        registered = [[m.name, m.target, dict(m.fixed), m.sign] for m in built_in]
        found = closure([*requested, *(module for m in built_in for module in _modules(m))])
        documented = (REGISTRY, "entries")  # they hold what `registered` has, and documentation
        found = {name: path for name, path in found.items() if not name.endswith(documented)}
    sources = {name: code_digest(path.read_bytes()) for name, path in found.items()}
    return digest([sources, registered])


def _modules(measure: Measure) -> list[str]:
    """The module of the function; for a user's perturbation, which is named by the module that
    registers it, also that module and the one of its function."""
    named = [value for value in measure.fixed.values() if isinstance(value, str) and ":" in value]
    modules = [target.partition(":")[0] for target in (measure.target, *named)]
    if named:
        from pgdl_measures.perturbations.catalogue import perturbation  # needs TensorFlow

        modules += [perturbation(name).function.__module__ for name in named]
    return modules


def toolkit_version() -> str:
    """The installed version; a checkout that is not installed has none."""
    try:
        return importlib.metadata.version("pgdl-measures")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _glance(path: Path) -> list[Any]:
    stat = path.stat()
    small = file_digest(path) if stat.st_size <= _SMALL else None
    return [path.name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, small]
