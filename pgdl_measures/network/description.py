"""The layers of a model as `pgdl ls layers` shows them: at which of them it can be entered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import tensorflow as tf

from pgdl_measures.network.blocks import call_name
from pgdl_measures.network.compiled import Network
from pgdl_measures.network.reading import read_graph
from pgdl_measures.network.rebuild import as_it_is


@dataclass(frozen=True)
class LayerDescription:
    """One layer of the papers."""

    number: int  # l; 0 is the input
    computes: str  # the classes of the Keras layers, in their order
    name: str  # of the last of them in the model
    shape: tuple[int, ...]  # of x^(l) for one example


def describe_layers(
    model: tf.keras.Model, input_shape: tuple[int, ...] | None = None
) -> list[LayerDescription]:
    """The layers of a model at which it can be entered, from 0, the input, and its outputs."""
    shape = tuple(model.input_shape[1:]) if input_shape is None else input_shape
    network = Network(as_it_is(read_graph(model, shape)), shape)
    described = [LayerDescription(0, "input", "", shape)]
    for number, (steps, calls) in enumerate(zip(network.layers, network.layer_calls()), start=1):
        counts = Counter(map(call_name, calls))
        computes = " + ".join(name if n == 1 else f"{n} {name}" for name, n in counts.items())
        last = getattr(calls[-1].layer, "name", "")
        after = network.step_shape(steps[-1] + 1)
        described.append(LayerDescription(number, computes, last, after))
    return described
