"""An architecture of the user's, or of Keras: `module:function` in a grid.

The function is called with `input_shape` and `classes` and the grid's hyperparameters by name, and
returns a built Keras model that ends in logits:

    def small(input_shape, classes, width=8):
        ...
        return keras.Model(inputs, logits)

One that takes `weights` or `classifier_activation`, as those of `keras.applications` do, gets None
for them unless the grid says otherwise: networks of a zoo begin untrained and end in logits. The
initial weights are drawn anew, by the model's seed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ingestion.errors import ZooError
from pgdl_measures.own_modules import import_own

_GIVEN = ("input_shape", "classes")
_NONE = ("weights", "classifier_activation")


def own_function(name: str) -> Callable[..., Any]:
    """The function behind `module:function`."""
    module, _, function = name.partition(":")
    if module == "keras" or module.startswith("keras."):
        module = f"tensorflow.{module}"  # the Keras that the project runs on
    try:
        found = _attribute(module, function)
    except ImportError as error:
        raise ZooError(f"architecture {name}: there is no module {module!r} ({error})") from error
    except AttributeError as error:
        raise ZooError(f"architecture {name}: {module} has no {function!r}") from error
    if not callable(found):
        raise ZooError(f"architecture {name}: is {found!r}; expected a function")
    missing = [n for n in _GIVEN if n not in _parameters(found) and not _takes_any(found)]
    if missing:
        raise ZooError(
            f"architecture {name}: takes no {' and no '.join(missing)}; expected a function "
            "(input_shape, classes, **hyperparameters) that returns a Keras model"
        )
    return found


def own_hyperparameters(name: str) -> dict[str, bool] | None:
    """Its hyperparameters, and whether each must be given; None where it takes any."""
    function = own_function(name)
    if _takes_any(function):
        return None
    return {
        p.name: p.default is p.empty and p.name not in _NONE
        for p in _parameters(function).values()
        if p.name not in _GIVEN
    }


def own_config(
    name: str, shape: Sequence[int], classes: int, hparams: Mapping[str, Any]
) -> dict[str, Any]:
    """The `config.json` of the model that the function returns."""
    import tensorflow as tf

    from ingestion.model_files.keras_files import config_of

    function = own_function(name)
    defaults = {n: None for n in _NONE if n in _parameters(function)}
    arguments = {**defaults, **hparams, "input_shape": tuple(shape), "classes": classes}
    try:
        model = function(**arguments)
    except Exception as error:  # whatever the user's function raises
        text = (str(error).strip().splitlines() or [""])[0]
        shown = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        raise ZooError(
            f"architecture {name} raises {type(error).__name__} with {shown}: {text}"
        ) from error
    if not isinstance(model, tf.keras.Model):
        raise ZooError(
            f"architecture {name} returns {type(model).__name__}; expected a built Keras model"
        )
    _check(model, name, tuple(shape), classes)
    return config_of(model, name)


def _check(model: Any, name: str, shape: tuple[int, ...], classes: int) -> None:
    if not model.built or len(model.inputs) != 1:
        raise ZooError(f"architecture {name} returns a model that is not built on one input")
    found = tuple(model.input_shape[1:]), tuple(model.output_shape[1:])
    if found != (shape, (classes,)):
        raise ZooError(
            f"architecture {name} returns a model from {found[0]} to {found[1]}; the data needs "
            f"one from {shape} to {(classes,)}"
        )
    activation = getattr(getattr(model.layers[-1], "activation", None), "__name__", "linear")
    if type(model.layers[-1]).__name__ == "Softmax" or activation in ("softmax", "sigmoid"):
        raise ZooError(
            f"architecture {name} returns probabilities (its last layer is {model.layers[-1].name},"
            f" {activation}); expected logits: leave the activation out"
        )


def _attribute(module: str, function: str) -> Any:
    try:
        return getattr(import_own(module), function)
    except ImportError:
        # `tensorflow.keras.applications` is an attribute and no module that can be imported.
        first, *rest = module.split(".")
        if not rest:
            raise
        found: Any = import_own(first)
        for part in (*rest, function):
            found = getattr(found, part)
        return found


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    positional = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(function).parameters
    return {name: p for name, p in found.items() if p.kind in positional}


def _takes_any(function: Callable[..., Any]) -> bool:
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds
