"""The sets of images that models are tested on, by what the zoo of the models knows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ingestion.datasets.arrays import Split, stratified_order
from ingestion.datasets.shards import read_data
from ingestion.zoo.layout import Zoo
from pgdl_measures.errors import PgdlError

SPLITS = {
    "test": ("test",),
    "train": ("train",),
    "unseen": ("unseen",),
    "both": ("test", "train"),
}


@dataclass(frozen=True)
class Origin:
    """The task of a zoo that all models are from."""

    folder: Path
    train_examples: int | None  # of the data source that were used; None: all
    test_examples: int | None
    eps: int | None  # of the rescaled protocol, where it was trained by that


def find_origin(paths: Iterable[Path]) -> Origin | None:
    """The task that model folders are from; None for models from elsewhere, or of several tasks."""
    folders = {path.parent for path in paths}
    folder = folders.pop()
    if folders or folder.parent.name != "input_data":
        return None
    settings = Zoo(folder.parent.parent).tasks().get(folder.name)
    if settings is None:
        return None
    return Origin(
        folder,
        settings.get("grid.train_examples"),
        settings.get("grid.test_examples"),
        settings.get("eps"),
    )


def sizes(
    origin: Origin | None, train: int | None, test: int | None
) -> tuple[int | None, int | None]:
    """The numbers of training and test examples; by default those that the zoo used."""
    if origin is None:
        return train, test
    return train or origin.train_examples, test or origin.test_examples


def choose_sets(
    read: Callable[[str], Split],
    split: str,
    origin: Origin | None,
    train: int | None,
    test: int | None,
) -> dict[str, Split]:
    """The sets that `split` names, of at most so many examples; `read` gives the `train` or `test`
    part of the data, and only what is needed is read."""
    makers: dict[str, Callable[[], Split]] = {
        "test": lambda: read("test").limited(test),
        "train": lambda: read("train").limited(train),
        "unseen": lambda: _unseen(read("train"), origin, train),
    }
    return {name: makers[name]() for name in SPLITS[split]}


def notes(
    origin: Origin | None, split: str, train: int | None, test: int | None, eps: int
) -> list[str]:
    """What a user should know before the results: which images, and whether the models fit."""
    if origin is None:
        return []
    used = {"train": (train, origin.train_examples), "test": (test, origin.test_examples)}
    sentences = [
        f"The {name} set is the {count} images that the zoo of these models used."
        for name, (count, known) in used.items()
        if name in SPLITS[split] and count is not None and count == known
    ]
    if origin.eps not in (None, eps):
        sentences.append(
            f"Warning: these models were trained on images that were upsampled for eps = "
            f"{origin.eps}; for eps = {eps} images are upsampled to another size, for which "
            f"the models were not trained. Give --eps {origin.eps}, or train models by `pgdl zoo "
            f"build --protocol rescaled --eps {eps}`."
        )
    return sentences


def fewer_than_asked(sets: Mapping[str, Split], train: int | None, test: int | None) -> list[str]:
    """A sentence about each set that has fewer images than the user asked for."""
    requested = {"train": train, "test": test}
    return [
        f"The {name} set has {len(split)} images, fewer than the {requested[name]} asked for."
        for name, split in sets.items()
        if len(split) < (requested.get(name) or 0)
    ]


def _unseen(data: Split, origin: Origin | None, count: int | None) -> Split:
    """As many training images that the zoo left out as it used: the models cannot depend on them,
    and they are of the distribution of the training set."""
    if origin is None:
        raise PgdlError(
            "--split unseen uses the training images that a zoo left out, but the models are "
            "not of one zoo; expected folders ZOO/input_data/TASK/model_<id> with ZOO/zoo.json"
        )
    seen = origin.train_examples
    if seen is None or seen >= len(data):
        raise PgdlError(f"{origin.folder}: was trained on all training images, so none is unseen")
    stored = read_data(origin.folder).train.labels
    if not np.array_equal(stored, data.limited(seen).labels):
        raise PgdlError(
            f"{origin.folder}: was not trained on images of this --data, so which of them are "
            "unseen is not known; give the data that the zoo was built from"
        )
    return data.take(np.sort(stratified_order(data.labels, seed=0)[seen : seen + (count or seen)]))
