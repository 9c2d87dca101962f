"""A saved model of a class of the user's (`class Net(tf.keras.Model)`) as a functional one.

The functional model has one layer, the user's model. So it is stored, checked and built as every
model with a layer of the user's own; its class comes from a module that the user names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingestion.model_files.custom import Custom
from ingestion.model_files.keras_calls import MODELS, tensor_of
from ingestion.model_files.keras_names import snake_case

_INPUT = "subclassed_input"


def is_subclassed(saved: Any, custom: Custom) -> bool:
    """Whether a configuration is of a model of a class that the user's modules define."""
    if not isinstance(saved, Mapping) or saved.get("class_name") in (*MODELS, "Model"):
        return False
    names = (saved.get("registered_name"), saved.get("class_name"), saved.get("module"))
    return custom.find(*names) is not None


def as_functional(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of a functional model that calls this one on its input."""
    config = saved["config"] if isinstance(saved.get("config"), dict) else {}
    name = config.get("name") or snake_case(str(saved["class_name"]))
    start = {
        "module": "keras.layers",
        "class_name": "InputLayer",
        "config": {"name": _INPUT, "batch_shape": _input_shape(saved)},
        "inbound_nodes": [],
    }
    call = {"args": [tensor_of([_INPUT, 0, 0])], "kwargs": {}}
    model = {**saved, "config": config, "name": name, "inbound_nodes": [call]}
    return {
        "class_name": "Functional",
        "config": {
            "name": f"{name}_on_input",
            "layers": [start, model],
            "input_layers": [[_INPUT, 0, 0]],
            "output_layers": [[name, 0, 0]],
        },
    }


def _input_shape(saved: Mapping[str, Any]) -> Any:
    """What the model was built for; None where the file does not say."""
    built = saved.get("build_config")
    return built.get("input_shape") if isinstance(built, Mapping) else None
