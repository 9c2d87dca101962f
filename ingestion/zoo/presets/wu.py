"""Wu et al. 2021: the CIFAR models of ContRE, in four variations."""

from __future__ import annotations

from typing import Any

from ingestion.zoo.presets.preset import Preset

# fmt: off
_ARCHITECTURES = [
    "vgg11_bn", "vgg16_bn", "vgg19_bn", "resnet18", "resnet34", "resnet50", "resnet101",
    "wide_resnet_28_10", "densenet121", "resnext29_32x4d", "shufflenet_v2", "mnasnet", "mobilenet",
    "mobilenet_v2",
]
# fmt: on
_TRAINING = {
    "optimizer": "sgd",
    "momentum": 0.9,
    "learning_rate": 0.1,
    "weight_decay": 0.0005,
    "batch_size": 128,
    "schedule": "steps",
    "milestones": [0.3, 0.6, 0.8],
    "augmentation": "crop_flip",
}
_PUBLISHED = (
    "Fourteen networks of the families VGG, ResNet, Wide ResNet, DenseNet, ResNeXt, ShuffleNet, "
    "MNasNet and MobileNet, trained with random crops and flips and standard hyperparameters "
    "(4.1.2)."
)
_END = "Training ends early at a training loss of 0.0005, which is not published."
_OURS = (
    "Which fourteen of these families. What is standard: SGD with momentum 0.9, "
    "learning rate 0.1 times 0.2 after 60, 120 and 160 of 200 epochs, batch size 128, weight decay "
    "0.0005 (Zagoruyko and Komodakis 2016). Batch normalization in the VGGs. " + _END
)
_SCALED = (
    "An eighth of the widths, 250 training and 2,000 test examples, batch size 16, Adam with "
    "learning rate 0.002, at most 120 epochs, a training loss of 0.02. Networks that do not fit "
    "even these examples in that time (MobileNets, MNasNet, ShuffleNet), ResNet-101 and ResNeXt "
    "are replaced by VGG-13 and two more Wide ResNets."
)
# fmt: off
_SMALL_ARCHITECTURES = [
    "vgg11_bn", "vgg13_bn", "vgg16_bn", "vgg19_bn", "resnet18", "resnet34", "resnet50",
    "wide_resnet_16_8", "wide_resnet_26_10", "wide_resnet_28_10", "densenet121",
]
# fmt: on
_FULL: dict[str, Any] = {
    "hparams": {"architecture": _ARCHITECTURES},
    "fixed": _TRAINING,
    "target": {"loss": 0.0005},
    "max_epochs": 200,
}
_SMALL_TRAINING = {
    **_TRAINING,
    "optimizer": "adam",
    "learning_rate": 0.002,
    "weight_decay": 0.0,
    "batch_size": 16,
    "milestones": [0.6, 0.8, 0.9],
    "width_scale": 0.125,
}
_SMALL: dict[str, Any] = {
    "hparams": {"architecture": _SMALL_ARCHITECTURES},
    "fixed": _SMALL_TRAINING,
    "target": {"loss": 0.02},
    "max_epochs": 120,
    "train_examples": 250,
    "test_examples": 2000,
}


def _without(training: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in training.items() if name not in names}


PRESETS = {
    "wu-cifar": Preset(
        "the 14 CIFAR networks of Tables 1, 2, 5 and 6 of Wu et al. 2021",
        _PUBLISHED,
        _OURS,
        _FULL,
        _SMALL,
        _SCALED,
    ),
    "wu-hyperparameters": Preset(
        "Table 3, first column, of Wu et al. 2021: one network, 18 hyperparameter choices",
        published=(
            "WideResNet-26-10, batch sizes, learning rates and weight decays (4.4.1); random crops "
            "and flips (4.1.2)."
        ),
        ours="Momentum 0.9, and a learning rate times 0.2 after 60, 120 and 160 of 200 epochs. "
        + _END,
        full={
            **_FULL,
            "architecture": "wide_resnet_26_10",
            "hparams": {
                "batch_size": [32, 64, 128],
                "learning_rate": [0.01, 0.05, 0.1],
                "weight_decay": [0.0001, 0.001],
            },
            "fixed": _without(_TRAINING, "batch_size", "learning_rate", "weight_decay"),
        },
        small={
            **_without(_SMALL, "hparams"),
            "hparams": {
                "batch_size": [8, 16, 32],
                "learning_rate": [0.005, 0.025, 0.05],
                "weight_decay": [0.0001, 0.001],
            },
            "fixed": {
                **_without(_TRAINING, "batch_size", "learning_rate", "weight_decay"),
                "milestones": [0.6, 0.8, 0.9],
                "width_scale": 0.1,
            },
            "max_epochs": 150,
            "train_examples": 250,
        },
        scaled=(
            "A tenth of the widths, 250 training and 2,000 test examples, a quarter of the batch "
            "sizes, half of the learning rates, at most 150 epochs, of which the first 90 have the "
            "full learning rate, a training loss of 0.02."
        ),
    ),
    "wu-subset": Preset(
        "Table 3, second column, of Wu et al. 2021: 20 % of the training data",
        _PUBLISHED.replace("(4.1.2).", "(4.1.2), on 20 % of the training data (4.4.2)."),
        _OURS,
        {**_FULL, "train_examples": 10_000},
        {**_SMALL, "train_examples": 50, "max_epochs": 300},
        _SCALED.replace("250 training", "50 training").replace("120 epochs", "300 epochs"),
    ),
    "wu-randaugment": Preset(
        "Table 3, third column, of Wu et al. 2021: networks that were trained with RandAugment",
        _PUBLISHED.replace("random crops and flips", "RandAugment (4.4.3)"),
        _OURS + " The N = 2 and M = 20 of RandAugment are those of ContRE.",
        {**_FULL, "fixed": {**_TRAINING, "augmentation": "randaugment"}},
        {**_SMALL, "fixed": {**_SMALL_TRAINING, "augmentation": "randaugment"}},
        _SCALED,
    ),
}
