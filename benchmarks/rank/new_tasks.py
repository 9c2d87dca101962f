"""Data of further tasks for networks.py, cut from three data sets and scikit-learn's digits.

    python benchmarks/rank/new_tasks.py FOLDER -o DATA

FOLDER has cifar10_16k.npz, fashion_mnist_16k.npz and oxford_pets_32.npz. No training image is one
of those that the networks of `fashion.json` and `cifar10.json` were trained on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

SOME_CLASSES = {"cifar5": [0, 2, 5, 7, 9], "pets10": list(range(20, 30))}


def cut(name: str, data: dict[str, np.ndarray], start: int, stop: int) -> dict[str, np.ndarray]:
    """The training images from `start` to `stop` and the test images, of a task's classes."""
    found = {}
    for part, rows in (("train", slice(start, stop)), ("test", slice(None))):
        images, labels = data[f"x_{part}"][rows], data[f"y_{part}"][rows]
        if name in SOME_CLASSES:
            classes = SOME_CLASSES[name]
            kept = np.isin(labels, classes)
            images, labels = images[kept], np.searchsorted(classes, labels[kept])
        found |= {f"x_{part}": images, f"y_{part}": labels.astype(np.uint8)}
    return found


def halved(data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """With images of half the height and width: means of four pixels."""
    found = dict(data)
    for part in ("x_train", "x_test"):
        images = data[part] if data[part].ndim == 4 else data[part][..., None]
        count, height, width, channels = images.shape
        blocks = images.reshape(count, height // 2, 2, width // 2, 2, channels)
        found[part] = blocks.mean(axis=(2, 4), dtype=np.float32).round().astype(np.uint8)
    return found


def digits() -> dict[str, np.ndarray]:
    """600 for training, the rest for the test."""
    data = load_digits()
    order = np.random.default_rng(5).permutation(len(data.target))
    images = (data.images * 255 / 16).round().astype(np.uint8)[order]
    labels = data.target[order].astype(np.uint8)
    train, test = slice(0, 600), slice(600, None)
    return {
        **{"x_train": images[train], "y_train": labels[train]},
        **{"x_test": images[test], "y_test": labels[test]},
    }


def main() -> None:
    """Writes an npz per task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    cifar, fashion, pets = (
        dict(np.load(args.folder / f"{name}.npz"))
        for name in ("cifar10_16k", "fashion_mnist_16k", "oxford_pets_32")
    )
    tasks = {
        "fashion14": halved(cut("fashion14", fashion, 9500, 10300)),
        "digits": digits(),
        "cifar5": halved(cut("cifar5", cifar, 10000, 12000)),
        "pets10": cut("pets10", pets, 0, 3680),
    }
    for name, arrays in tasks.items():
        np.savez(args.output / f"{name}.npz", **arrays)
        print(name, *(array.shape for array in arrays.values()))


if __name__ == "__main__":
    main()
