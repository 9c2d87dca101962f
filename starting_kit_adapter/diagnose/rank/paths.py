"""Models as they are named on the command line: files, folders and globs."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pgdl_measures.errors import PgdlError

_FILES = (".keras", ".h5", ".hdf5")
_MODEL = ("config.json", "saved_model.pb")  # a folder with one of these is one model


def find_models(given: Sequence[str]) -> dict[str, Path]:
    """Paths by the shortest names that tell them apart, in the order given.

    A folder is one model, or it holds models: Keras files and model folders.
    """
    found: list[Path] = []
    for text in given:
        paths = [Path(text)]
        if not paths[0].exists():
            paths = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
        models = [model for path in paths for model in _models(path)]
        if not models:
            raise PgdlError(
                f"{text}: no model found; expected a .keras or .h5 file, a folder of such "
                "files or of models, or a glob of these"
            )
        found += [model for model in models if model not in found]
    if len(found) < 2:
        raise PgdlError(f"{found[0]} is the only model; a ranking needs two or more")
    return dict(zip(_short_names(found), found))


def _models(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.exists() else []
    if any((path / name).exists() for name in _MODEL):
        return [path]
    return [
        inside
        for inside in sorted(path.iterdir())
        if (inside.is_file() and inside.suffix in _FILES)
        or (inside.is_dir() and any((inside / name).exists() for name in _MODEL))
    ]


def _short_names(paths: Sequence[Path]) -> list[str]:
    """File names without suffix; with it, or with folders, where that is not enough."""
    stems = Counter(path.stem if path.is_file() else path.name for path in paths)
    names = [path.stem if path.is_file() else path.name for path in paths]
    if max(stems.values()) == 1:
        return names
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-depth:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return names
