"""What is tested: which models, on which images, shifted how."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.datasets.arrays import Split
from ingestion.datasets.sources import load_part, source_name
from ingestion.model_files.any_model import read_architecture, read_model
from pgdl_measures.adversarial.padding import AUTO, Upsampling, upsampling
from pgdl_measures.adversarial.similarity import Similarity, predict, similarity
from pgdl_measures.errors import PgdlError
from pgdl_measures.network.compiled import Network, network
from starting_kit_adapter.diagnose.overfit import models as found_models
from starting_kit_adapter.diagnose.overfit import sets as found_sets
from starting_kit_adapter.diagnose.overfit.control import control
from starting_kit_adapter.diagnose.overfit.report import Models
from starting_kit_adapter.diagnose.overfit.scaling import scaled_sets

_SAMPLE = 2000  # images by which the padding is chosen
_SETTINGS = ("data", "scale", "image_size", "resize", "split", "eps", "seed")


@dataclass(frozen=True)
class Question:
    """Models and sets of images, with what a user should know before the results."""

    models: Models
    sets: Mapping[str, Split]
    padding: str
    eps: int
    notes: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    originals: Models = field(default_factory=dict)  # trained on images as they are

    @property
    def compared(self) -> tuple[int, int]:
        """How many original and tested models are compared."""
        return len(self.originals), len(self.models)

    def similarity(self) -> Similarity | None:
        """Of the original models and these, on the first set (Section 5.3.3)."""
        if not self.originals:
            return None
        split = next(iter(self.sets.values()))
        # Circular shifts by nothing leave images as they are.
        original = _predictions(self.originals, split, self.eps, "circular")
        return similarity(
            split.labels, original, _predictions(self.models, split, self.eps, self.padding)
        )

    def to_json(self, similar: Similarity | None) -> dict[str, Any]:
        """The settings, and the similarity where there is one."""
        found = {} if similar is None else {"similarity": asdict(similar)}
        return {**self.settings, "padding": self.padding, "notes": self.notes, **found}


def ask(args: argparse.Namespace) -> Question:
    """The question of a command line with models and data."""
    if not args.data:
        raise PgdlError("no images are given: give a model and --data, or --control")
    paths = found_models.find_models(args.model, args.models)
    custom = args.custom or ()
    _check_alike(paths, custom)
    origin = found_sets.find_origin(paths.values())
    train, test = found_sets.sizes(origin, args.train_examples, args.test_examples)
    first, *further = args.data

    def read(part: str, source: str = first) -> Split:
        return load_part(source, part, args.image_size, args.resize)

    sets = found_sets.choose_sets(read, args.split, origin, train, test)
    for source in further:
        sets[_free_name(source_name(source), sets)] = read("test", source).limited(test)
    notes = found_sets.notes(origin, args.split, train, test, args.eps)
    notes += found_sets.fewer_than_asked(sets, args.train_examples, args.test_examples)
    models = _readers(paths, custom)
    name, read_first = next(iter(models.items()))
    sets, warning = scaled_sets(read_first(), sets, args.scale)
    notes += [f"Warning: {name}: {warning}"] if warning else []
    padding, note = _choose_padding(models, next(iter(sets.values())), args.eps, args.padding)
    originals = {} if args.original is None else found_models.find_models(None, args.original)
    settings = {
        **{name: getattr(args, name) for name in _SETTINGS},
        **{"train_examples": train, "test_examples": test},
        "paths": {name: str(path) for name, path in paths.items()},
    }
    notes += [note] if note else []
    return Question(models, sets, padding, args.eps, notes, settings, _readers(originals, custom))


def ask_control(args: argparse.Namespace) -> Question:
    """The positive control; with an output folder its model and images are kept there."""
    if args.model or args.models or args.data or args.original:
        raise PgdlError(
            "--control makes its own model and images: leave out MODEL, --models, --data, "
            "--original"
        )
    model, sets = control(args.eps, args.seed)
    note = (
        "A dense network has memorized 500 random textures. Their distribution does not change "
        "when they are shifted, as the test assumes, so it must reject for the train set only."
    )
    if args.output is not None:
        model.save(args.output / "control.keras")
        train, test = sets["train"], sets["test"]
        np.savez(
            args.output / "control.npz",
            x_train=train.images,
            y_train=train.labels,
            x_test=test.images,
            y_test=test.labels,
        )
    settings = {"control": True, "eps": args.eps, "seed": args.seed}
    return Question({"control": lambda: model}, sets, "upsample", args.eps, [note], settings)


def _check_alike(paths: Mapping[str, Path], custom: Sequence[str]) -> None:
    found_models.check_one_architecture({n: read_architecture(p, custom) for n, p in paths.items()})
    found_models.check_one_training({n: found_models.read_training(p) for n, p in paths.items()})


def _readers(
    paths: Mapping[str, Path], custom: Sequence[str]
) -> dict[str, Callable[[], tf.keras.Model]]:
    return {name: partial(_read, path, custom) for name, path in paths.items()}


def _read(path: Path, custom: Sequence[str]) -> tf.keras.Model:
    return read_model(path, custom)[1]


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    """A name for a further set, with a number if another set has it."""
    reserved = {"train", "test", "unseen", *taken}
    numbered = (f"{name}_{i}" for i in range(2, len(reserved) + 3))
    return name if name not in reserved else next(n for n in numbered if n not in reserved)


def _choose_padding(models: Models, split: Split, eps: int, padding: str) -> tuple[str, str]:
    """One padding for all models, and what to say of it."""
    if padding != AUTO:
        return padding, ""
    sample = split.limited(_SAMPLE)
    found = [
        upsampling(_bind(read()), sample.images, sample.labels, eps) for read in models.values()
    ]
    known = [errors for errors in found if errors is not None]
    if not known:  # images have spare pixels
        return "upsample", ""
    mean = Upsampling(*(float(x) for x in np.mean([(e.as_given, e.upsampled) for e in known], 0)))
    if mean.tolerated:
        return "upsample", ""
    return "circular", (
        f"Images are shifted circularly: upsampling them raises the error from {mean.as_given:.4f} "
        f"to {mean.upsampled:.4f}."
    )


def _predictions(models: Models, split: Split, eps: int, padding: str) -> np.ndarray:
    found = [
        predict(_bind(read()), split.images, eps=eps, padding=padding) for read in models.values()
    ]
    return np.stack(found)


def _bind(model: tf.keras.Model) -> Network:
    return network(model, tuple(model.input_shape[1:]))
