"""The scale in which a model takes images of bytes: 0 to 255, or divided by 255.

A model that begins with `Rescaling(1/255)` takes the bytes as they are; if they are divided before,
it sees black images. The training accuracy shows which scale a model was trained with: it is high
in that scale and near chance in the other.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.datasets.arrays import Data, Split
from ingestion.errors import CorpusError
from pgdl_measures.ranking.concerns import chance_accuracy, near_chance
from scoring.files import load_json

WORDS = {
    "unit": "bytes divided by 255",
    "none": "bytes from 0 to 255",
    "floats": "floats, as they are",
}

_BATCH = 1 << 22  # numbers of a batch of inputs
_LOOK = 1000  # training examples on which `auto` compares
_PREPROCESSING = ("Rescaling", "Normalization")


def scaled_for(model: Any, data: Data, scale: str) -> Data:
    """Data of bytes (of the scale "none") as this model takes them; floats stay as they are.

    `auto` takes the scale with the larger training accuracy. Where both are alike, a model that
    begins with a `Rescaling` or `Normalization` layer takes the bytes as they are.
    """
    if data.scale != "none" or scale == "none":
        return data
    if scale == "unit":
        return data.in_unit_scale()
    some = data.limited(_LOOK, None)
    found = [share_correct(model, one.train) for one in (some, some.in_unit_scale())]
    noise = 2 / np.sqrt(len(some.train))
    as_they_are = found[0] > found[1] if abs(found[0] - found[1]) > noise else _rescales(model)
    return data if as_they_are else data.in_unit_scale()


def share_correct(model: Any, split: Split, step: Callable[[], None] = lambda: None) -> float:
    """The accuracy of a model on these examples; `step` is called after each batch."""
    outputs = _outputs(model)
    size = min(500, max(1, _BATCH // math.prod(split.images.shape[1:])))
    correct = 0
    for start in range(0, len(split), size):
        rows = slice(start, start + size)
        scores = outputs(split.images[rows]).numpy()
        predicted = scores.argmax(axis=-1) if scores.shape[-1] > 1 else scores[..., 0] > 0.5
        correct += int((predicted == split.labels[rows]).sum())
        step()
    return correct / len(split)


@functools.lru_cache(maxsize=1)
def _outputs(model: Any) -> Callable[[np.ndarray], Any]:
    """Traced once. TensorFlow takes the `predict` of all models for one function that is traced
    again and again, and warns of it."""
    import tensorflow as tf

    graph = tf.function(lambda x: model(x, training=False)).get_concrete_function(
        tf.TensorSpec([None, *model.input_shape[1:]], tf.float32)
    )
    return lambda images: graph(tf.constant(images, tf.float32))


def class_count(model: Any) -> int:
    """How many classes a model tells apart; one output is the probability of the second of two."""
    return max(2, model.output_shape[-1])


def data_warning(model: Any, data: Data) -> str | None:
    """What speaks against these being the images that the model was trained on, by some of them."""
    some = data.limited(_LOOK, None)
    return accuracy_warning(share_correct(model, some.train), some, name="accuracy")


def accuracy_warning(
    accuracy: float, data: Data, recorded: float | None = None, name: str = "training accuracy"
) -> str | None:
    """What is wrong with an accuracy of this name: it is near chance, or not the recorded one."""
    scale = f"The images were given as {WORDS[data.scale]}"
    remedy = {
        "unit": "; try --scale none if the model was trained on bytes from 0 to 255",
        "none": "; try --scale unit if the model was trained on images divided by 255",
        "floats": "; scale them as they were in training",
    }[data.scale]
    if recorded is not None and abs(accuracy - recorded) > 0.05:
        return f"its {name} is {accuracy:.1%}, and {recorded:.1%} was recorded. {scale}{remedy}"
    chance = chance_accuracy(data.train.labels, data.classes)
    if near_chance(accuracy, chance, len(data.train)):
        return f"its {name} is {accuracy:.1%}, which is near chance ({chance:.1%}). {scale}{remedy}"
    return None


def recorded_accuracy(path: Path) -> float | None:
    """The training accuracy that a corpus records of a `model_<id>` folder of it, if it does."""
    folder = path.resolve()
    configs = folder.parent / "model_configs.json"
    if not folder.is_dir() or not configs.exists():
        return None
    try:
        entries = load_json(configs)
    except (OSError, ValueError) as error:
        raise CorpusError(configs, f"cannot be read ({error})") from error
    for key in (folder.name, folder.name[len("model_") :]):
        try:
            return float(entries[key]["metrics"]["train_acc"])
        except (KeyError, TypeError, ValueError):
            continue  # of another form, which is no matter here
    return None


def _rescales(model: Any) -> bool:
    first = next((x for x in model.layers if type(x).__name__ != "InputLayer"), None)
    return type(first).__name__ in _PREPROCESSING
