"""Training ends at its target, draws everything from the seed, and works under Keras 2 and 3."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from zoos import pgdl_zoo, write_grid

from ingestion.errors import ZooError
from ingestion.model_files.models import build_model, load_model
from ingestion.zoo.architectures import conv, vgg
from ingestion.zoo.training import Recipe, Target, Trainer

RNG = np.random.default_rng(0)
LABELS = np.arange(96, dtype=np.int32) % 3
# Three classes that differ by where the image is bright.
IMAGES = (RNG.random((96, 6, 6, 1)) + np.eye(6)[LABELS * 2][:, :, None, None]).astype(np.float32)


def _trainer(layers: list | None = None, batch_size: int = 16) -> Trainer:
    layers = layers or vgg((6, 6, 1), 3, width=4, blocks=1, dense_units=16, dropout=0.5)
    config = {"model_config": layers, "input_shape": [6, 6, 1]}
    return Trainer(config, IMAGES, LABELS, batch_size)


def _recipe(**changes: object) -> Recipe:
    values = {
        "seed": 1,
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "max_epochs": 100,
        "target": Target(accuracy=0.98),
    }
    return Recipe(**{**values, **changes})  # type: ignore[arg-type]


def test_training_ends_at_the_first_epoch_that_meets_the_target() -> None:
    trainer = _trainer()
    trained = trainer.train(_recipe())
    assert trained.reached and trained.train.accuracy >= 0.98
    assert trainer.fit(IMAGES, LABELS) == trained.train
    one_less = trainer.train(_recipe(max_epochs=trained.epochs - 1))
    assert not one_less.reached and one_less.epochs == trained.epochs - 1


def test_a_target_may_be_a_loss() -> None:
    trained = _trainer().train(_recipe(target=Target(loss=0.05)))
    assert trained.reached and trained.train.loss <= 0.05


def test_a_model_does_not_depend_on_what_was_trained_before_it() -> None:
    fresh = _trainer().train(_recipe(seed=2))
    used = _trainer()
    used.train(_recipe(seed=1, weight_decay=0.01))
    again = used.train(_recipe(seed=2))
    assert again.epochs == fresh.epochs
    for before, after in ((fresh.initial, again.initial), (fresh.final, again.final)):
        assert all(np.array_equal(a, b) for a, b in zip(before, after))


def test_seeds_weight_decay_and_dropout_have_an_effect() -> None:
    def weights(trainer: Trainer, **changes: object) -> np.ndarray:
        trained = trainer.train(_recipe(max_epochs=2, target=Target(loss=1e-9), **changes))
        return np.concatenate([w.ravel() for w in trained.final])

    plain = _trainer(vgg((6, 6, 1), 3, width=4, blocks=1, dense_units=16))
    trainer = _trainer()
    results = [
        weights(trainer),
        weights(trainer, seed=2),
        weights(trainer, weight_decay=0.1),
        weights(plain),
    ]
    for i, a in enumerate(results):
        for b in results[:i]:
            assert not np.array_equal(a, b)


def test_weight_decay_alone_shrinks_kernels_and_leaves_biases() -> None:
    """With images of zeros and no bias yet, the first kernel has no other gradient."""
    config = {
        "model_config": vgg((6, 6, 1), 3, width=4, blocks=1, dense_units=16),
        "input_shape": [6, 6, 1],
    }
    trainer = Trainer(config, np.zeros_like(IMAGES), LABELS, 96)
    recipe = _recipe(max_epochs=1, weight_decay=0.1, target=Target(loss=1e-9))
    trained = trainer.train(recipe)
    # Adam's first step is the learning rate against the sign of the gradient.
    expected = trained.initial[0] - 0.01 * np.sign(trained.initial[0])
    assert np.allclose(trained.final[0], expected, atol=1e-3)
    assert np.array_equal(trained.final[1], trained.initial[1])


def test_batch_normalization_learns_its_moving_averages() -> None:
    layers = conv((6, 6, 1), 3, parameters=2000, depth=2, batch_norm=True)
    trained = _trainer(layers).train(_recipe(target=Target(accuracy=0.9)))
    assert trained.reached
    # conv kernel, bias, gamma, beta, moving mean, moving variance, …
    assert not np.array_equal(trained.final[4], trained.initial[4])


def test_divergence_is_an_error_and_not_a_model() -> None:
    with pytest.raises(ZooError, match="training diverged"):
        _trainer().train(_recipe(learning_rate=1e30))


@pytest.fixture(scope="module")
def npz_zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npz")
    np.savez(folder / "a.npz", x_train=IMAGES, y_train=LABELS, x_test=IMAGES, y_test=LABELS)
    grid = write_grid(
        folder,
        architecture="conv",
        hparams={"batch_norm": [False, True]},
        fixed={"parameters": 500, "depth": 2, "learning_rate": 0.01},
        target={"accuracy": 0.9},
    )
    root = folder / "zoo"
    arguments = ("build", "--data", f"npz:{folder / 'a.npz'}", "--grid", grid, "-o", root)
    assert pgdl_zoo(*arguments, "--workers", 1) == 0
    return root


@pytest.mark.keras2
def test_a_zoo_is_built_from_a_file_with_either_keras(npz_zoo: Path) -> None:
    configs = json.loads((npz_zoo / "reference_data/tiny/model_configs.json").read_text())
    assert len(configs) == 2
    for model, entry in configs.items():
        logits = load_model(npz_zoo / f"input_data/tiny/model_{model}").predict(IMAGES, verbose=0)
        assert np.mean(logits.argmax(axis=-1) == LABELS) == entry["metrics"]["train_acc"] >= 0.9


@pytest.mark.keras2
@pytest.mark.skipif(tf.__version__ >= "2.16", reason="Keras 3 does not read .hdf5")
def test_keras_2_reads_the_weights_with_its_own_loader(npz_zoo: Path) -> None:
    for model in (0, 1):
        folder = npz_zoo / f"input_data/tiny/model_{model}"
        ours = load_model(folder)
        theirs = build_model(json.loads((folder / "config.json").read_text()))
        theirs.load_weights(folder / "weights.hdf5")
        for a, b in zip(ours.get_weights(), theirs.get_weights()):
            assert np.array_equal(a, b)
