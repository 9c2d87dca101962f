"""Which padding a network tolerates. The paper upsamples, but that changes what the network sees.

Werpachowski et al. 2019, Section 5.3, train networks on upsampled images. Any other network may
fail on them: a network with 5.6 % errors on 8x8 digits has 77 % on their upsampled centres, and the
independence test would measure those errors. Circular shifts leave the unshifted image as it is.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from pgdl_measures.adversarial.translations import Translations, translations
from pgdl_measures.adversarial.windows import Images, Windows
from pgdl_measures.errors import MeasureError
from pgdl_measures.network.compiled import Network

AUTO = "auto"
TOLERATED = 0.05  # the largest growth of the error by upsampling


@dataclass(frozen=True)
class Upsampling:
    """The error with and without upsampling."""

    as_given: float
    upsampled: float  # of the central windows of upsampled images

    @property
    def tolerated(self) -> bool:
        """Whether the error stays about the same."""
        return self.upsampled - self.as_given < TOLERATED


def upsampling(
    network: Network, images: Images | tf.Tensor, labels: np.ndarray | tf.Tensor, eps: int
) -> Upsampling | None:
    """The errors with and without upsampling; None if the images have spare pixels."""
    as_given = error_as_given(network, images, labels)
    if as_given is None:
        return None
    moved = translations(images.shape[1:], network.input_shape, eps, "upsample")
    return Upsampling(as_given, _unshifted_error(Windows(network, images, labels, moved)))


def error_as_given(
    network: Network, images: Images | tf.Tensor, labels: np.ndarray | tf.Tensor
) -> float | None:
    """The error on the images themselves; None if they are larger than the network's input."""
    if tuple(images.shape[1:]) != tuple(network.input_shape):
        return None
    size = tuple(images.shape[1:3])
    return _unshifted_error(Windows(network, images, labels, Translations(1, size, size, False)))


def choose_padding(
    network: Network,
    images: Images | tf.Tensor,
    labels: np.ndarray | tf.Tensor,
    eps: int,
    padding: str = AUTO,
) -> str:
    """The padding for one network.

    `auto` becomes `upsample` if the network tolerates it, otherwise `circular`, with a warning.
    `upsample` raises if the network does not tolerate it.
    """
    found = upsampling(network, images, labels, eps) if padding in (AUTO, "upsample") else None
    if found is None or found.tolerated:
        return "upsample" if padding == AUTO else padding
    errors = (
        f"upsampling the images raises the model's error from {found.as_given:.4f} to "
        f"{found.upsampled:.4f}"
    )
    if padding == "upsample":
        raise MeasureError(
            f"{errors}; use padding=circular, or a model trained on upsampled images (`pgdl zoo "
            "build --protocol rescaled`)"
        )
    logging.warning("%s; shifting them circularly instead", errors)
    return "circular"


def _unshifted_error(windows: Windows) -> float:
    everyone, nowhere = np.arange(len(windows)), np.zeros((len(windows), 2), int)
    windows.request(everyone, nowhere)
    windows.evaluate()
    return float((windows.scores(everyone, nowhere) >= 0).mean())
