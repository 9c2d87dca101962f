"""VGG11, 13, 16 and 19 (Simonyan and Zisserman 2015, Table 1) for small images.

The convolutions are the published ones. Of the three dense layers only the logits remain: after
five poolings a 32x32 image is one pixel, and its 512 features are enough. That is the customary
form for CIFAR-10, with the parameter counts of github.com/kuangliu/pytorch-cifar.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.errors import ZooError
from ingestion.zoo.architectures import layers as make
from ingestion.zoo.architectures.layers import Layers

_CONVOLUTIONS = {  # before each of the five poolings
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
_FILTERS = (64, 128, 256, 512, 512)


def vggnet(
    shape: Sequence[int],
    classes: int,
    *,
    depth: int,
    batch_norm: bool = False,
    width_scale: float = 1.0,
) -> Layers:
    """A VGG network of 11, 13, 16 or 19 layers; batch normalization comes before each relu."""
    if depth not in _CONVOLUTIONS:
        raise ZooError(f"a VGG network has depth 11, 13, 16 or 19, found {depth}")
    layers: Layers = []
    for count, published in zip(_CONVOLUTIONS[depth], _FILTERS):
        filters = make.widened(published, width_scale)
        for _ in range(count):
            layers += make.active(filters, 3, batch_norm)
        layers.append(make.pooling())
    return [*layers, make.layer("Flatten"), *make.head([], 0.0, classes)]
