"""When to stop: by GapMonitor on all data, by a held-back validation tenth, or not at all.

    python benchmarks/rank/early_stopping.py networks/data.npz -o early_stopping.json

Trains one small convolutional network per seed on 2,000 training images and one on nine tenths of
them, for the same number of epochs, and notes every epoch's logs and test accuracy. Which epoch
Keras's EarlyStopping(patience=5, restore_best_weights=True) would have kept follows from the logs.
About 4 CPU-minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from networks import build, convnet, examples

from pgdl_measures import GapMonitor

EXAMPLES, EPOCHS, SEEDS, PATIENCE = 2000, 25, 5, 5
MEASURES = ("mixup", "contre_gap")


class TestAccuracy(tf.keras.callbacks.Callback):
    """Notes the truth, which no rule may look at."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        super().__init__()
        self._images, self._labels = images, labels

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        predicted = self.model.predict(self._images, batch_size=500, verbose=0).argmax(axis=1)
        assert logs is not None
        logs["test_accuracy"] = float((predicted == self._labels).mean())


def kept_epoch(values: list[float], *, largest: bool) -> int:
    """The epoch whose weights EarlyStopping restores."""
    best = 0
    for epoch, value in enumerate(values):
        if value > values[best] if largest else value < values[best]:
            best = epoch
        elif epoch - best >= PATIENCE:
            break
    return best


def train(data: dict[str, np.ndarray], seed: int, *, hold_back: bool) -> dict[str, Any]:
    """The logs of one training."""
    images, labels = data["x_train"].astype("float32") / 255, data["y_train"]
    order = np.random.default_rng(seed).permutation(len(labels))
    tenth = len(labels) // 10 if hold_back else 0
    held, kept = order[:tenth], order[tenth:]
    tf.keras.utils.set_random_seed(seed)
    model = build(convnet, images.shape[1:], 10)
    truth = TestAccuracy(data["x_test"].astype("float32") / 255, data["y_test"])
    monitor = GapMonitor((images[kept], labels[kept]), MEASURES, examples=512)
    started = time.process_time()
    history = model.fit(
        examples(images[kept], labels[kept], augment=False),
        validation_data=(images[held], labels[held]) if hold_back else None,
        epochs=EPOCHS,
        callbacks=[truth] if hold_back else [monitor, truth],
        verbose=0,
    )
    return {
        "seed": seed,
        "cpu_seconds": round(time.process_time() - started),
        "monitor_seconds": [round(s, 3) for s in monitor.seconds],
        "logs": {name: [round(float(v), 5) for v in x] for name, x in history.history.items()},
    }


def main() -> None:
    """Trains all, prints the table and writes the logs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    with np.load(args.data) as file:
        sizes = {"train": EXAMPLES, "test": None}
        data = {name: file[name][: sizes[name[2:]]] for name in file}
    found: dict[str, list[dict[str, Any]]] = {"all": [], "nine_tenths": []}
    if args.output.exists():
        found = json.loads(args.output.read_text())
    for seed in range(len(found["nine_tenths"]), SEEDS):
        runs = [train(data, seed, hold_back=hold_back) for hold_back in (False, True)]
        found["all"].append(runs[0])
        found["nine_tenths"].append(runs[1])
        args.output.write_text(json.dumps(found, indent=1) + "\n")
        print(f"seed {seed} done", flush=True)
    print(table(found))


RULES = (
    ("the last epoch", "all", None, True),
    ("GapMonitor: predicted_accuracy", "all", "predicted_accuracy", True),
    ("GapMonitor: mixup", "all", "mixup", False),
    ("GapMonitor: contre_gap", "all", "contre_gap", False),
    ("validation tenth: val_accuracy", "nine_tenths", "val_accuracy", True),
    ("validation tenth: val_loss", "nine_tenths", "val_loss", False),
    ("the best epoch, by the test set", "all", "test_accuracy", True),
)


def table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Test accuracies of every rule and seed, as Markdown."""
    seeds = [run["seed"] for run in found["all"]]
    lines = [
        f"| stopped by | trained on | {' | '.join(f'seed {s}' for s in seeds)} | mean | epochs |",
        f"| --- | --- | {' | '.join('---:' for _ in seeds)} | ---: | --- |",
    ]
    for name, part, log, largest in RULES:
        kept = [
            len(run["logs"]["loss"]) - 1
            if log is None
            else kept_epoch(run["logs"][log], largest=largest)
            if log != "test_accuracy"
            else int(np.argmax(run["logs"][log]))
            for run in found[part]
        ]
        test = [run["logs"]["test_accuracy"][i] for run, i in zip(found[part], kept)]
        cells = " | ".join(f"{100 * value:.1f}" for value in test)
        epochs = ", ".join(str(i + 1) for i in kept)
        images = {"all": "all", "nine_tenths": "nine tenths"}[part]
        lines.append(f"| {name} | {images} | {cells} | {100 * np.mean(test):.1f} | {epochs} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
