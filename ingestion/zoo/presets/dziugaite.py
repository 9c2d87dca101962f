"""Dziugaite et al. 2020, Appendix C: Networks-in-Network over five hyperparameters."""

from __future__ import annotations

from ingestion.zoo.presets.preset import Preset

PRESETS = {
    "dziugaite-nin": Preset(
        "the 10,000 networks of Dziugaite et al. 2020; give --data twice, once for each data set",
        published=(
            "Learning rates, depths, widths, training set sizes and ten repeats (C.1, C.5), the "
            "network (C.2 and the authors' code), SGD with momentum 0.9 and neither decay nor "
            "augmentation, training to a cross-entropy of 0.01 (C.4). The data sets are CIFAR-10 "
            "and 50,000 and 10,000 images of SVHN (C.3)."
        ),
        ours="The batch size of 32 and at most 300 epochs (both those of the authors' code).",
        full={
            "architecture": "strided_nin",
            "hparams": {
                "learning_rate": [0.001, 0.00158, 0.00316, 0.00631, 0.01],
                "depth": [2, 3, 4, 5, 6],
                "width": [200, 250, 300, 350, 400],
                "train_examples": [6250, 12500, 25000, 50000],
            },
            "fixed": {"optimizer": "sgd", "momentum": 0.9, "schedule": "constant"},
            "target": {"accuracy": 0.99, "loss": 0.01},
            "max_epochs": 300,
            "test_examples": 10000,
            "repeats": 10,
        },
        small={
            "hparams": {
                "learning_rate": [0.03, 0.1],  # with the published ones, few reach the target
                "depth": [2, 3, 4],
                "width": [16, 32],
                "train_examples": [250, 500, 1000],
            },
            "target": {"accuracy": 0.99, "loss": 0.05},
            "max_epochs": 150,
            "test_examples": 2000,
            "repeats": 5,
        },
        scaled=(
            "Two widths of a twelfth, two learning rates ten times as large (there are a hundredth "
            "of the steps), three depths, three training sizes of a fiftieth, five repeats, a "
            "cross-entropy of 0.05 or 150 epochs."
        ),
    )
}
