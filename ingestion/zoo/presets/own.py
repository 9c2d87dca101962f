"""Small grids of our own, for a first look, tests and the tutorial."""

from __future__ import annotations

from ingestion.zoo.presets.preset import Preset

_INVARIANCE = {"target": {"accuracy": 0.99}, "max_epochs": 60, "train_examples": 1000}
_INVARIANCE_LISTS = {"learning_rate": [0.001, 0.003], "batch_size": [16, 64]}

PRESETS = {
    "digits": Preset(
        "36 small networks in a minute",
        published="Nothing.",
        ours="All: few examples, so that gaps are large and the whole grid trains at once.",
        full={
            "architecture": "vgg",
            "hparams": {
                "width": [16, 48],
                "blocks": [1, 2, 3],
                "dropout": [0.0, 0.5],
                "batch_size": [8, 32, 64],
            },
            "fixed": {"learning_rate": 0.003},
            "target": {"accuracy": 0.995, "loss": 0.05},
            "train_examples": 250,
        },
    ),
    "fashion": Preset(
        "the competition's task 8 at a size that two cores train in minutes",
        published="The hyperparameters of task 8.",
        ours="Their values: a sixteenth of the widths, 2,000 training examples, Adam.",
        full={
            "architecture": "vgg",
            "hparams": {
                "width": [16, 32],
                "dropout": [0.0, 0.5],
                "blocks": [1, 3],
                "learning_rate": [0.001, 0.003],
                "batch_size": [16, 64],
            },
            "fixed": {"weight_decay": 0.0001},
            "train_examples": 2000,
        },
    ),
    "invariance": Preset(
        "VGG-like networks of one to three blocks for --augment; see schiff-vgg",
        published="The hyperparameters of Schiff et al. 2021, 4.2.1.",
        ours="Their values, and the networks, which are those of task 1.",
        full={
            **_INVARIANCE,
            "architecture": "vgg",
            "hparams": {"blocks": [1, 2, 3], "batch_norm": [False, True], **_INVARIANCE_LISTS},
            "fixed": {"width": 16, "dense_units": 64},
        },
    ),
    "invariance_resnet": Preset(
        "ResNets of depth 8 to 20 for --augment; see schiff-resnet",
        published="The hyperparameters of Schiff et al. 2021, 4.2.1.",
        ours="Their values, and the depths 6n + 2.",
        full={
            **_INVARIANCE,
            "architecture": "resnet",
            "hparams": {"depth": [8, 14, 20], **_INVARIANCE_LISTS},
            "fixed": {"width": 8},
        },
    ),
}
