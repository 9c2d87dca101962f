"""The Keras-2 `save_weights` file (hdf5): read and written directly, alike under every Keras.

Layout: attribute `layer_names` on the root; per layer a group with attribute `weight_names`, under
which each named data set is one weight. Attributes longer than hdf5's limit are split by Keras into
`name0`, `name1`, …; both forms are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.errors import CorpusError

LayerWeights = tuple[str, list[np.ndarray]]  # the layer's name and its weights in Keras' order


def read_weights(path: Path) -> list[LayerWeights]:
    """All layers that have weights, in the file's order."""
    import h5py

    if not path.is_file():
        raise CorpusError(path, "is missing; a model needs its weights")
    try:
        with h5py.File(path, "r") as file:
            root = file.get("model_weights", file)
            if "layer_names" not in root.attrs and "layer_names0" not in root.attrs:
                raise CorpusError(path, "has no `layer_names`; expected a Keras-2 weight file")
            layers = []
            for name in _names(root, "layer_names"):
                group = root[name]
                weights = [np.asarray(group[w]) for w in _names(group, "weight_names")]
                if weights:
                    layers.append((name, weights))
            return layers
    except (OSError, KeyError, RuntimeError) as error:
        raise CorpusError(path, f"is not a whole hdf5 weight file ({error})") from error


def write_weights(path: Path, layers: Sequence[tuple[str, Sequence[tuple[str, Any]]]]) -> None:
    """Writes `(layer name, [(weight name such as "kernel:0", array), …])` as Keras 2 would."""
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["backend"] = b"tensorflow"
        file.attrs["keras_version"] = b"2.15.0"
        file.attrs["layer_names"] = np.array([name.encode() for name, _ in layers])
        for name, weights in layers:
            group = file.create_group(name)
            names = [f"{name}/{weight}".encode() for weight, _ in weights]
            group.attrs["weight_names"] = np.array(names) if names else np.zeros(0, dtype="S1")
            for (_, value), weight_name in zip(weights, names):
                group.create_dataset(weight_name.decode(), data=np.asarray(value, np.float32))


def _names(group: Any, attribute: str) -> list[str]:
    if attribute in group.attrs:
        values = list(group.attrs[attribute])
    else:
        values, part = [], 0
        while f"{attribute}{part}" in group.attrs:
            values += list(group.attrs[f"{attribute}{part}"])
            part += 1
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values]
