"""Augmentation penalty: how much predictions change under seven augmentations (second place).

Each image is shown to the network as it is and mirrored (weight 6), with another saturation (1),
its middle enlarged (2), as horizontal edges (3), brighter (1), mirrored with another saturation
(12), and with a black rectangle (2). An augmentation that changes the predicted class costs its
weight; one that does not costs the change of the probability. The measure is the mean cost per
image. Read: runner_up_solution/complexity.py of github.com/sumukhaithal6/pgdl.

Where ours differs: it takes a sample of 2,000 images in place of the first 12,864; a factor of
saturation is drawn for each image, not for a batch; and because brightness, edges and saturation
mean colours in [0, 1], inputs are first mapped there by the data's own range, channel by channel,
and back afterwards. Grey images have no saturation to change; of four channels the last is left
alone by what changes colours.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from pgdl_measures.base import Subject
from pgdl_measures.data import check_images
from pgdl_measures.network.compiled import Network
from pgdl_measures.norms.sampling import sample
from pgdl_measures.perturbations.value_range import training_range

CHANNELS = (1, 3, 4)
WEIGHTS = (6.0, 1.0, 2.0, 3.0, 1.0, 12.0, 2.0)


def augmentation_penalty(subject: Subject, *, examples: int = 2_000, seed: int = 0) -> float:
    """The mean cost of the seven augmentations."""
    check_images(subject.data.shape, CHANNELS)
    network = subject.network
    graph = network.graph("augmentation_penalty", lambda: _build(network))
    inputs, labels = sample(subject.data, examples, seed)
    return float(graph(inputs, *training_range(subject), tf.constant(seed))) / len(labels)


def views(images: tf.Tensor, uniform: tf.Tensor) -> list[tf.Tensor]:
    """The seven augmentations of images [n, h, w, c] in [0, 1], from numbers [n, 6] in [0, 1)."""
    mirrored = images[:, :, ::-1]
    return [
        mirrored,
        saturated(images, 0.6 + uniform[:, 0]),
        _enlarged(images),
        tf.image.sobel_edges(images)[..., 1] / 4 + 0.5,
        images + 0.5,
        saturated(mirrored, 0.6 + uniform[:, 1]),
        erased(images, uniform[:, 2:]),
    ]


def saturated(images: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Each image's saturation times its factor [n]."""
    if images.shape[-1] == 1:
        return images
    hue, saturation, value = tf.unstack(tf.image.rgb_to_hsv(images[..., :3]), axis=-1)
    saturation = tf.clip_by_value(saturation * factor[:, None, None], 0.0, 1.0)
    colours = tf.image.hsv_to_rgb(tf.stack([hue, saturation, value], axis=-1))
    return tf.concat([colours, images[..., 3:]], axis=-1)


def erased(images: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
    """Each image with a rectangle of zeros: its height, width and place from numbers [n, 4].

    Sides are whole numbers from sqrt(0.02 x 0.3 area) to sqrt(0.4 / 0.3 area), or to the image's.
    """
    height, width = images.shape[1:3]
    least = round((0.02 * 0.3 * height * width) ** 0.5)
    most = round((0.4 / 0.3 * height * width) ** 0.5)

    def inside(size: int, share: tf.Tensor, place: tf.Tensor) -> tf.Tensor:  # [n, size]
        side = least + tf.floor(share * max(min(most, size) - least, 1))
        first = tf.floor(place * (size - side))
        pixels = tf.range(size, dtype=tf.float32)
        return (pixels >= first[:, None]) & (pixels < (first + side)[:, None])

    rows = inside(height, uniform[:, 0], uniform[:, 2])
    columns = inside(width, uniform[:, 1], uniform[:, 3])
    return tf.where((rows[:, :, None] & columns[:, None])[..., None], 0.0, images)


def _enlarged(images: tf.Tensor) -> tf.Tensor:
    return tf.image.resize(tf.image.central_crop(images, 0.9), images.shape[1:3])


def _build(network: Network) -> Any:
    channels = network.input_shape[-1]

    def answer(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        probabilities = tf.nn.softmax(network.logits(x))
        return tf.argmax(probabilities, axis=-1), tf.reduce_max(probabilities, axis=-1)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, *network.input_shape], tf.float32),
            tf.TensorSpec([channels], tf.float32),
            tf.TensorSpec([channels], tf.float32),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def penalty(inputs: tf.Tensor, low: tf.Tensor, high: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        span = tf.where(high > low, high - low, 1.0)
        count = tf.shape(inputs)[0]
        uniform = tf.random.stateless_uniform([count, 6], tf.stack([seed, 0]), alg="philox")
        total = tf.constant(0.0)
        for start in tf.range(0, count, network.forward_batch):
            tf.autograph.experimental.set_loop_options(parallel_iterations=1)
            now = slice(start, start + network.forward_batch)
            predicted, probability = answer(inputs[now])
            shown = views((inputs[now] - low) / span, uniform[now])
            for weight, view in zip(WEIGHTS, shown):
                then, confidence = answer(view * span + low)
                change = tf.abs(probability - confidence)
                total += tf.reduce_sum(tf.where(then == predicted, change, weight))
        return total

    return penalty
