"""Models as they are named on the command line: files, folders and globs."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ingestion.model_files.model_paths import models_at
from pgdl_measures.errors import PgdlError


def find_models(given: Sequence[str]) -> dict[str, Path]:
    """Paths by the shortest names that tell them apart, in the order given.

    A folder is one model, or it holds models: Keras files, SavedModels and folders of a corpus.
    """
    found: list[Path] = []
    for text in given:
        paths = [Path(text)]
        if not os.path.lexists(text):
            paths = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
        models = [model for path in paths for model in models_at(path)]
        if not models:
            raise PgdlError(
                f"{text}: no model found; expected a .keras or .h5 file, a folder of such "
                "files or of models, or a glob of these"
            )
        found += [model for model in models if model not in found]
    if len(found) < 2:
        raise PgdlError(f"{found[0]} is the only model; a ranking needs two or more")
    return dict(zip(_short_names(found), found))


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
