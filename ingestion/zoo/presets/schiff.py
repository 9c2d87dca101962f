"""Schiff et al. 2021, Section 4.2: networks that are more or less invariant.

Built with `--augment PERTURBATION`, which trains each network at none, partial and full
augmentation and tests it under the full range of the perturbation.
"""

from __future__ import annotations

from typing import Any

from ingestion.zoo.presets.preset import Preset

_PUBLISHED = (
    "Depths, batch sizes, learning rates, Adam, a learning rate that is reduced on plateaus of the "
    "training loss, 95 % of the training data for training and 5 % for validation, three levels of "
    "augmentation (4.2.1, A.9)."
)
_OURS = (
    "The plateau is PyTorch's default: a tenth after 10 epochs without improvement. The end of "
    "training is not published: here it is a cross-entropy of 0.01 or 200 epochs. Networks are "
    "those of small images (3x3 stem; one dense layer)."
)
_SCALED = (
    "An eighth of the widths, 150 training and 1,000 test examples, batch sizes 16 and 32, "
    "learning rates 0.003 and 0.001, a cross-entropy of 0.05 or 150 epochs."
)
_TRAINING = {"optimizer": "adam", "schedule": "plateau", "decay_factor": 0.1, "patience": 10}
_LISTS = {"batch_size": [1024, 2048, 4096], "learning_rate": [1e-4, 1e-5]}
_SMALL_LISTS = {"batch_size": [16, 32], "learning_rate": [0.003, 0.001]}
_FULL: dict[str, Any] = {
    "fixed": _TRAINING,
    "target": {"loss": 0.01},
    "max_epochs": 200,
    "validation": 0.05,
}
_SMALL = {
    "fixed": {**_TRAINING, "width_scale": 0.125},
    "target": {"loss": 0.05},
    "max_epochs": 150,
    "train_examples": 150,
    "test_examples": 1000,
}
_VGG = {"depth": [11, 13, 16, 19], "batch_norm": [False, True]}
_RESNET = {"depth": [18, 34, 50]}

PRESETS = {
    "schiff-vgg": Preset(
        "the VGG networks of Table 3 and Figures 6 to 9 of Schiff et al. 2021",
        _PUBLISHED,
        _OURS,
        {**_FULL, "architecture": "vggnet", "hparams": {**_VGG, **_LISTS}},
        {**_SMALL, "hparams": {**_VGG, **_SMALL_LISTS}},
        _SCALED,
    ),
    "schiff-resnet": Preset(
        "the ResNets of Table 3 and Figures 6 to 9 of Schiff et al. 2021",
        _PUBLISHED,
        _OURS,
        {**_FULL, "architecture": "resnet", "hparams": {**_RESNET, **_LISTS}},
        {**_SMALL, "hparams": {**_RESNET, **_SMALL_LISTS}},
        _SCALED,
    ),
}
