"""The competition's tasks, as the organizers describe them in `pgdl/README.md` (google-research).

Their lists multiply to the number of models in the corpus for tasks 1, 2, 5, 6, 7 and 9, but to 64
of 96 for task 4 and 32 of 64 for task 8: one hyperparameter of each was not described.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingestion.zoo.presets.preset import Preset

_CONV: dict[str, list[Any]] = {
    "parameters": [1_000_000, 2_500_000],
    "depth": [4, 6],
    "reversed": [False, True],
    "weight_decay": [0.0, 0.0005],
    "learning_rate": [0.01, 0.001],
    "batch_size": [32, 256],
}
_SGD = {"optimizer": "sgd", "momentum": 0.9}
_SMALL_WIDTHS = {"width": 16, "parameters": 256}  # by what the published values are divided


def _task(
    data: str,
    architecture: str,
    hparams: Mapping[str, list[Any]],
    epochs: int,
    milestones: list[int],
    ours: str = "",
    part: str = "",
    **fixed: Any,
) -> Preset:
    """A task: the epochs at which the learning rate is multiplied by 0.2 are `milestones`; `part`
    is how many of its networks are described, where it is not all of them."""
    shares = [milestone / epochs for milestone in milestones]
    full = {
        "architecture": architecture,
        "hparams": dict(hparams),
        "fixed": {**_SGD, **fixed, "milestones": shares},
        "max_epochs": epochs,
    }
    augmented = {
        "autoaugment": ", the CIFAR-10 policy of AutoAugment on half of the examples",
        "crop_flip": ", random flips and crops after padding by 4 pixels",
    }.get(fixed.get("augmentation", ""), "")
    return Preset(
        f"{part}a task of the competition, on {data}",
        published=(
            "The family of the network, hyperparameters and their values, initial learning rate "
            f"and when it is multiplied by 0.2, at most {epochs} epochs{augmented}."
        ),
        ours=(
            "What the description leaves open of the network (see its family), and the target: a "
            f"training accuracy of 0.995. {ours}"
        ).strip(),
        full=full,
        small=_small(full),
        scaled=(
            "A sixteenth of the widths, 2,000 training and 2,000 test examples, Adam with learning "
            "rate 0.001 (0.001 and 0.0001 where there are two), at most 200 epochs."
        ),
    )


def _small(full: Mapping[str, Any]) -> dict[str, Any]:
    hparams = {
        name: [value // _SMALL_WIDTHS[name] for value in values]
        if name in _SMALL_WIDTHS
        else [0.001, 0.0001]
        if name == "learning_rate"
        else values
        for name, values in full["hparams"].items()
    }
    fixed = {
        name: value // _SMALL_WIDTHS[name] if name in _SMALL_WIDTHS else value
        for name, value in full["fixed"].items()
        if name not in ("learning_rate", *_SGD)
    }
    sizes = {"max_epochs": 200, "train_examples": 2000, "test_examples": 2000}
    return {"hparams": hparams, "fixed": {**fixed, "optimizer": "adam"}, **sizes}


_WIDTH = "The width, 256, is not published."
_OPTIMIZER = "The optimizer, SGD with momentum 0.9, is that of the other tasks."

PRESETS = {
    "task1": _task(
        "CIFAR-10",
        "vgg",
        {
            "width": [256, 512],
            "dropout": [0.0, 0.5],
            "blocks": [1, 3],
            "dense_layers": [1, 2],
            "weight_decay": [0.0, 0.001],
            "batch_size": [8, 32, 512],
        },
        1200,
        [300, 600, 900],
        learning_rate=0.001,
    ),
    "task2": _task(
        "SVHN",
        "nin",
        {
            "depth": [6, 9, 12],
            "dropout": [0.0, 0.25, 0.5],
            "weight_decay": [0.0, 0.001],
            "batch_size": [32, 512, 1024],
        },
        1200,
        [300, 600, 900],
        _WIDTH,
        width=256,
        learning_rate=0.01,
    ),
    "task4": _task(
        "40 % of CINIC-10",
        "conv",
        _CONV,
        3000,
        [1800, 2200, 2400],
        _OPTIMIZER,
        "64 of the 96 networks of ",
        batch_norm=True,
    ),
    "task5": _task("40 % of CINIC-10", "conv", _CONV, 3000, [1800, 2200, 2400], _OPTIMIZER),
    "task6": _task(
        "Oxford Flowers at 32x32",
        "nin",
        {
            "weight_decay": [0.0, 0.001],
            "batch_size": [512, 1024],
            "width": [256, 512],
            "depth": [6, 9, 12],
            "dropout": [0.0, 0.25],
            "learning_rate": [0.1, 0.01],
        },
        10_000,
        [4000, 6000, 8000],
        _OPTIMIZER,
        augmentation="autoaugment",
    ),
    "task7": _task(
        "Oxford Pets at 32x32",
        "nin",
        {
            "depth": [6, 9],
            "dropout": [0.0, 0.25],
            "weight_decay": [0.0, 0.001],
            "batch_size": [512, 1024],
            "dense": ["128-128-128", "256-256", "512"],
        },
        5000,
        [2000, 3000, 4000],
        f"{_OPTIMIZER} {_WIDTH}",
        width=256,
        learning_rate=0.1,
        augmentation="autoaugment",
    ),
    "task8": _task(
        "Fashion-MNIST",
        "vgg",
        {
            "width": [256, 512],
            "dropout": [0.0, 0.5],
            "blocks": [1, 3],
            "learning_rate": [0.001, 0.01],
            "batch_size": [32, 512],
        },
        1800,
        [300, 600, 900],
        _OPTIMIZER,
        "32 of the 64 networks of ",
        weight_decay=0.0001,
    ),
    "task9": _task(
        "CIFAR-10",
        "nin",
        {
            "width": [256, 512],
            "depth": [9, 12],
            "dropout": [0.0, 0.25],
            "weight_decay": [0.0, 0.001],
            "batch_size": [32, 512],
        },
        1200,
        [300, 600, 900],
        learning_rate=0.01,
        augmentation="crop_flip",
    ),
}
