"""Small networks and images for the adversarial tests, with outcomes found by brute force."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.independence import Outcome


def random_model(shape: tuple[int, ...], seed: int, whole: bool = False) -> tf.keras.Model:
    """A small network of three classes that sees where things are, and classifies some three
    quarters of `random_images` as 0. With `whole` its weights are -1, 0 and 1, so that on whole
    images it computes exactly and many logits tie."""
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(3, 3, strides=2, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3),
        ]
    )
    model.build((None, *shape))
    rng = np.random.default_rng(seed)
    draw = (lambda s: rng.integers(-1, 2, s)) if whole else (lambda s: rng.normal(size=s))
    weights = [draw(w.shape).astype(np.float32) for w in model.get_weights()]
    model.set_weights(weights)
    outputs = np.asarray(model(random_images(200, shape, seed=99, whole=whole)))
    weights[-1][0] += np.ceil(np.quantile(outputs[:, 1:].max(axis=1) - outputs[:, 0], 0.75))
    model.set_weights(weights)
    return model


def random_images(
    count: int, shape: tuple[int, ...], seed: int = 0, whole: bool = False
) -> np.ndarray:
    """Noise; zeros and ones if `whole`."""
    noise = np.random.default_rng(seed).normal(size=(count, *shape))
    return (noise > 1 if whole else noise).astype(np.float32)


def predicted(model: tf.keras.Model, images: np.ndarray) -> np.ndarray:
    return np.asarray(model(images)).argmax(axis=1).astype(np.int32)


def all_scores(model: tf.keras.Model, windows: np.ndarray, label: int) -> np.ndarray:
    """l_exc of each window where it is misclassified, NaN where it is not."""
    outputs = np.asarray(model(windows))
    excess = outputs.max(axis=1) - outputs[:, label]
    return np.where(outputs.argmax(axis=1) != label, excess, np.nan)


def all_windows(image: np.ndarray, shape: tuple[int, ...], eps: int, padding: str) -> np.ndarray:
    """tau_v(image) for v from (-3 eps, -3 eps) to (3 eps, 3 eps), row-major: [side^2, h, w, c]."""
    span = range(-3 * eps, 3 * eps + 1)
    if padding == "circular":
        return np.stack([np.roll(image, (a, b), axis=(0, 1)) for a in span for b in span])
    h, w = shape[:2]
    if padding == "upsample":
        image = tf.image.resize(image, [h + 6 * eps, w + 6 * eps]).numpy()
    top, left = (image.shape[0] - h) // 2, (image.shape[1] - w) // 2
    return np.stack(
        [image[top - a : top - a + h, left - b : left - b + w] for a in span for b in span]
    )


def literal(name: str, scores: np.ndarray, eps: int, draw: int) -> tuple[bool, bool, float]:
    """L(x), L(g(x)) and h(g(x)) by the words of Section 5.1, from the scores [side, side] of all
    translations; `draw` is the index of the neighbour that the random generators took."""
    vs = [(a, b) for a in range(-eps, eps + 1) for b in range(-eps, eps + 1)]
    moving = [v for v in vs if v != (0, 0)]
    candidates = moving if name == "random" else vs

    def wrong(at: tuple[int, int]) -> bool:
        return not np.isnan(scores[at[0] + 3 * eps, at[1] + 3 * eps])

    def score(at: tuple[int, int]) -> float:
        return scores[at[0] + 3 * eps, at[1] + 3 * eps]

    def g(at: tuple[int, int]) -> tuple[int, int]:
        if wrong(at):
            return at
        best = None
        for v in vs:
            to = at[0] + v[0], at[1] + v[1]
            if not wrong(to):
                continue
            key = score(to) if name == "strongest" else -(v[0] ** 2 + v[1] ** 2)
            if best is None or key > best[0]:
                best = key, to
        return at if best is None else best[1]

    here = (0, 0)
    if wrong(here):
        there = here
    elif name in ("strongest", "nearest"):
        there = g(here)
    else:
        there = candidates[draw]
    count = 0.0
    for v in moving:
        at = there[0] - v[0], there[1] - v[1]
        if name in ("strongest", "nearest"):
            count += at != there and g(at) == there
        elif not wrong(at):
            count += 1 / len(candidates)
    return wrong(here), wrong(there), 1 / (1 + count)


def brute_force(
    model: tf.keras.Model,
    images: np.ndarray,
    labels: np.ndarray,
    eps: int,
    padding: str,
    seed: int = 0,
) -> dict[str, Outcome]:
    """All windows of all images, then all generators, one image after the other."""
    side, shape = 6 * eps + 1, model.input_shape[1:]
    scores = [
        all_scores(model, all_windows(image, shape, eps, padding), label).reshape(side, side)
        for image, label in zip(images, labels)
    ]
    outcomes = {}
    for name in ("strongest", "nearest", "random", "random2"):
        options = (2 * eps + 1) ** 2 - (name == "random")
        draws = np.random.default_rng((seed, 1)).integers(options, size=len(labels))
        rows = [literal(name, score, eps, draw) for score, draw in zip(scores, draws)]
        outcomes[name] = Outcome(*map(np.array, zip(*rows)))
    return outcomes
