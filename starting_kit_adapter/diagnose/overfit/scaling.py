"""Images of bytes in the scale that the models were trained on, and labels that they have."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from ingestion.datasets.arrays import ByteSplit, Data, Split
from ingestion.datasets.scale import class_count, data_warning, scaled_for
from pgdl_measures.data import check_labels

_SAMPLE = 1000  # images by which the scale is chosen;
_VALUES = 1 << 24  # fewer where they have more values than this, 64 MB as floats


def scaled_sets(
    model: tf.keras.Model, sets: Mapping[str, Split], scale: str
) -> tuple[dict[str, Split], str | None]:
    """The sets as the model takes them, and a warning where it does not know the first of them.

    Images may be larger than the model takes, since they are shifted: it is shown their centres.
    """
    classes = class_count(model)
    for split in sets.values():
        check_labels(np.unique(split.labels).tolist(), classes)
    first = next(iter(sets.values()))
    first = first.limited(max(1, min(_SAMPLE, _VALUES // math.prod(first.images.shape[1:]))))
    centres = _centres(first, tuple(model.input_shape[1:]))
    if centres is None:  # they do not fit the model, which is said where they are shifted
        return dict(sets), None
    found = scaled_for(model, centres, scale)
    scaled = {
        name: split.scaled(found.scale) if isinstance(split, ByteSplit) else split
        for name, split in sets.items()
    }
    return scaled, data_warning(model, found)


def _centres(split: Split, shape: tuple[int | None, ...]) -> Data | None:
    """The middle of each image, in the model's input shape; None where it is too small."""
    are_bytes = isinstance(split, ByteSplit)
    images = split.images.array if isinstance(split, ByteSplit) else split.images
    if len(shape) != 3 or shape[2] not in (None, images.shape[3]):
        return None
    for axis, size in enumerate(shape[:2], start=1):
        spare = 0 if size is None else images.shape[axis] - size
        if spare < 0:
            return None
        middle = slice(spare // 2, spare // 2 + images.shape[axis] - spare)
        images = images[:, middle] if axis == 1 else images[:, :, middle]
    nothing = Split(images[:0], split.labels[:0])
    shown = Split(images.astype(np.float32), split.labels)
    return Data(shown, nothing, scale="none" if are_bytes else "floats")
