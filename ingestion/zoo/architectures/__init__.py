"""Architectures by name: families, whose hyperparameters a grid gives, and published networks.

A family is a function `(shape, classes, *, hyperparameters) -> layers`, the `model_config` of a
`config.json`. A published network is a family with its hyperparameters chosen; a grid may still
change them. Where there is a `width_scale`, it multiplies all published widths, so that two cores
can train what is published for a GPU. A name with a colon is a function of the user's (`own`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from ingestion.errors import ZooError
from ingestion.zoo.architectures.competition import conv, nin, strided_nin, vgg
from ingestion.zoo.architectures.densenet import densenet
from ingestion.zoo.architectures.layers import Layers
from ingestion.zoo.architectures.mobile import mnasnet, mobilenet
from ingestion.zoo.architectures.own import own_config, own_hyperparameters
from ingestion.zoo.architectures.resnet import resnet, wide_resnet
from ingestion.zoo.architectures.resnext import resnext
from ingestion.zoo.architectures.shufflenet import shufflenet_v2
from ingestion.zoo.architectures.vggnet import vggnet
from pgdl_measures.errors import UnknownNameError

FAMILIES: Mapping[str, Callable[..., Layers]] = {
    function.__name__: function
    for function in (
        *(vgg, nin, conv, strided_nin, vggnet, resnet, wide_resnet, resnext, densenet),
        *(mobilenet, mnasnet, shufflenet_v2),
    )
}
PUBLISHED: Mapping[str, Callable[..., Layers]] = {
    **{f"vgg{depth}": functools.partial(vggnet, depth=depth) for depth in (11, 13, 16, 19)},
    **{
        f"vgg{depth}_bn": functools.partial(vggnet, depth=depth, batch_norm=True)
        for depth in (11, 13, 16, 19)
    },
    **{f"resnet{depth}": functools.partial(resnet, depth=depth) for depth in (18, 34, 50, 101)},
    "wide_resnet_16_8": functools.partial(wide_resnet, depth=16, factor=8),
    "wide_resnet_26_10": functools.partial(wide_resnet, depth=26, factor=10),
    "wide_resnet_28_10": functools.partial(wide_resnet, depth=28, factor=10),
    "resnext29_32x4d": functools.partial(resnext, depth=29, groups=32, group_width=4),
    "resnext29_8x64d": functools.partial(resnext, depth=29, groups=8, group_width=64),
    "resnext50_32x4d": functools.partial(resnext, depth=50, groups=32, group_width=4),
    "densenet_bc_100_12": functools.partial(densenet, depth=100, growth=12),
    **{f"densenet{depth}": functools.partial(densenet, depth=depth) for depth in (121, 169)},
    "mobilenet_v2": functools.partial(mobilenet, version=2),
}
ARCHITECTURES = {**FAMILIES, **PUBLISHED}


def architecture(name: str) -> Callable[..., Layers]:
    """The architecture of that name."""
    if name not in ARCHITECTURES:
        raise UnknownNameError("architecture", name, ARCHITECTURES)
    return ARCHITECTURES[name]


def hyperparameters(name: str) -> dict[str, bool] | None:
    """The hyperparameters of an architecture, and whether each must be given; None where it takes
    whatever it is given."""
    if ":" in name:
        return own_hyperparameters(name)
    parameters = inspect.signature(architecture(name)).parameters.values()
    return {
        p.name: p.default is p.empty for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY
    }


def network_config(
    name: str, shape: Sequence[int], classes: int, hparams: Mapping[str, Any]
) -> dict[str, Any]:
    """The `config.json` of a network."""
    if ":" in name:
        return own_config(name, shape, classes, hparams)
    try:
        layers = architecture(name)(shape, classes, **hparams)
    except (TypeError, ValueError) as error:
        raise ZooError(f"there is no {name} with {dict(hparams)} ({error})") from error
    return {"model_config": layers, "input_shape": list(shape)}
