"""A SavedModel that Keras 2 wrote: its configuration and its variables, as data.

The graph of TensorFlow operations in `saved_model.pb` is not loaded: it can read and write files.
Keras 2 keeps its own configuration beside it, in `keras_metadata.pb` (Keras 3 exports without), and
the checkpoint in `variables/` names each variable by the objects on the way to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ingestion.errors import CorpusError, first_line
from ingestion.model_files.hdf5 import checked_numbers
from ingestion.model_files.keras_graph import Graph, Leaf
from ingestion.model_files.keras_names import safe_name
from ingestion.model_files.weights import either_keras
from scoring.files import parse_json

_METADATA = "keras_metadata.pb"
_LARGEST_METADATA = 64 * 2**20  # bytes
_NODES, _NODE_PATH, _NODE_METADATA = 1, 3, 5  # fields of SavedMetadata and SavedObject
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def saved_model_config(folder: Path) -> Any:
    """The Keras configuration of a SavedModel."""
    root = _objects(folder).get("root")
    if not isinstance(root, dict) or "config" not in root:
        raise CorpusError(folder / _METADATA, "has no configuration of the whole model")
    return {
        "class_name": root.get("class_name"),
        "config": root["config"],
        "build_config": {"input_shape": root.get("build_input_shape")},
    }


def read_saved_model(folder: Path, graph: Graph) -> None:
    """Sets the weights of a network that was built from `saved_model_config`."""
    names = {
        (path.rpartition(".")[0], safe_name(content["name"])): path
        for path, content in _objects(folder).items()
        if isinstance(content, dict) and isinstance(content.get("name"), str)
    }
    prefix = folder / "variables" / "variables"
    try:
        checkpoint = tf.train.load_checkpoint(str(prefix))
        variables = _Variables(checkpoint)
    except Exception as error:
        raise CorpusError(prefix, f"is not a whole checkpoint ({first_line(error)})") from error
    for leaf in graph.leaves:
        if leaf.layer.weights:
            _set_leaf(leaf, names, variables, checkpoint, prefix)


def _set_leaf(
    leaf: Leaf,
    names: dict[tuple[str, Any], str],
    variables: _Variables,
    checkpoint: Any,
    path: Path,
) -> None:
    place, owner = "root", f"layer {'/'.join(leaf.path)}" if leaf.path else "the model"
    for name in leaf.path:
        place = names.get((place, name), "")
    found = variables.below(place.split(".")[1:]) if place else {}
    by_attribute = {} if leaf.path else variables.by_attribute(leaf.layer)
    shapes = checkpoint.get_variable_to_shape_map()
    arrays = []
    for weight in leaf.layer.weights:
        own = _parts_of((getattr(weight, "path", None) or weight.name).split(":")[0])
        scores = {key: _common_end(own, _parts_of(name)) for key, name in found.items()}
        best = [key for key in scores if scores[key] == max(scores.values()) > 0]
        best = by_attribute.get(id(weight), best)
        if len(best) != 1 or tuple(shapes.get(best[0], ())) != tuple(weight.shape):
            raise CorpusError(path, f"{owner} has no weight {own[-1]} of shape {weight.shape}")
        array = np.asarray(checkpoint.get_tensor(best[0]))
        arrays.append(checked_numbers(array, path, owner))
    leaf.layer.set_weights(arrays)
    if hasattr(leaf.layer, "finalize_state"):
        leaf.layer.finalize_state()


class _Variables:
    """The tree of objects of a checkpoint."""

    def __init__(self, checkpoint: Any) -> None:
        from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

        graph = TrackableObjectGraph()
        graph.ParseFromString(checkpoint.get_tensor(_OBJECT_GRAPH))
        self._nodes = graph.nodes

    def by_attribute(self, layer: Any) -> dict[int, list[str]]:
        """The checkpoint's keys of the variables of a layer of the user's, the whole model, by
        their ids: the checkpoint names objects by the attributes that hold them."""
        found: dict[int, list[str]] = {}
        stack, seen = [(layer, self._nodes[0])], set()
        while stack:
            holder, node = stack.pop()
            seen.add(id(holder))
            parts = _parts(holder)
            for child in node.children:
                value, inner = parts.get(child.local_name), self._nodes[child.node_id]
                if isinstance(value, (tf.keras.layers.Layer, list, tuple, dict)):
                    if id(value) not in seen:
                        stack.append((value, inner))
                elif value is not None:
                    keys = [a.checkpoint_key for a in inner.attributes]
                    found[id(value)] = keys
        return found

    def below(self, path: list[str]) -> dict[str, str]:
        """The variables at and below an object: the checkpoint's key of each, and its full name."""
        node = self._nodes[0]
        for name in path:
            children = {child.local_name: child.node_id for child in node.children}
            if name not in children:
                return {}
            node = self._nodes[children[name]]
        found: dict[str, str] = {}
        stack, seen = [node], set()
        while stack:
            node = stack.pop()
            for attribute in node.attributes:
                if attribute.name == "VARIABLE_VALUE":
                    found[attribute.checkpoint_key] = attribute.full_name
            for child in node.children:
                if child.node_id not in seen and not child.local_name.startswith("keras_api"):
                    seen.add(child.node_id)
                    stack.append(self._nodes[child.node_id])
        return found


def _parts(holder: Any) -> dict[str, Any]:
    """What a layer, list or dictionary holds, by the names of the checkpoint."""
    if isinstance(holder, tf.keras.layers.Layer):
        own = vars(holder)
        return {**own, **{name.lstrip("_"): value for name, value in own.items()}}
    if isinstance(holder, dict):
        return {str(key): value for key, value in holder.items()}
    return {str(number): value for number, value in enumerate(holder)}


def _parts_of(name: str) -> list[str]:
    *path, last = name.split("/")
    return [*path, either_keras(last)]


def _common_end(one: list[str], two: list[str]) -> int:
    count = 0
    while count < min(len(one), len(two)) and one[-1 - count] == two[-1 - count]:
        count += 1
    return count


def _objects(folder: Path) -> dict[str, Any]:
    """What Keras says of each of its objects, by the object's path (`root.layer-1`)."""
    path = folder / _METADATA
    if not path.is_file():
        raise CorpusError(
            folder,
            f"is a SavedModel without Keras' configuration ({_METADATA}); load it where it was "
            "trained and save the model as a .keras file: model.save('mine.keras')",
        )
    try:
        if path.stat().st_size > _LARGEST_METADATA:
            raise ValueError(f"it has more than {_LARGEST_METADATA} bytes")
        found = {}
        for field, node in _fields(path.read_bytes()):
            if field == _NODES:
                content = dict(_fields(node))
                place = content.get(_NODE_PATH, b"").decode()
                found[place] = parse_json(content.get(_NODE_METADATA, b"{}") or b"{}")
        return found
    except (OSError, ValueError, IndexError) as error:
        raise CorpusError(path, f"is not Keras' metadata ({first_line(error)})") from error


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protocol buffer that hold bytes, with their numbers; others are passed by."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        if key & 7 == 0:
            _, position = _varint(message, position)
        elif key & 7 == 2:
            length, position = _varint(message, position)
            if position + length > len(message):
                raise ValueError("it is cut off")
            yield key >> 3, message[position : position + length]
            position += length
        else:
            raise ValueError(f"it has a field of type {key & 7}")


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return value, position
        if shift > 63:
            raise ValueError("it has a number that is too long")
