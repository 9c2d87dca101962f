"""A user's own layers: the classes and functions of the modules that the user names.

A file may say which class it needs, never where it is found: only modules named on the command line
(`--custom MODULE`) are imported.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ingestion.source_closure import closure, module_file
from pgdl_measures.errors import PgdlError, with_place
from pgdl_measures.own_modules import import_own, look_in_working_directory


class CustomError(PgdlError):
    """A module of the user's cannot be used."""


@dataclass(frozen=True)
class Custom:
    """Layer classes and functions by the names under which Keras saves them."""

    modules: tuple[str, ...] = ()
    objects: Mapping[str, Any] = field(default_factory=dict)

    def find(self, registered: Any, name: Any, module: Any) -> str | None:
        """The name of an object that a configuration means, unless it is one of Keras' own."""
        if isinstance(module, str) and module.split(".")[0] in ("keras", "tf_keras", "builtins"):
            return None
        for key in (registered, name):
            if isinstance(key, str) and key in self.objects:
                return key
        return None

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Keras finds the objects while it builds a layer that has others inside."""
        import tensorflow as tf

        with tf.keras.utils.custom_object_scope(dict(self.objects)):
            yield


def load_custom(modules: Sequence[str]) -> Custom:
    """Imports the modules, from the working directory too, and collects their layers."""
    objects: dict[str, Any] = {}
    for module in modules:
        objects.update(_objects(_import(module)))
    return Custom(tuple(modules), objects)


@cache
def custom_files(modules: tuple[str, ...]) -> list[Path]:
    """The source files of the modules and of what they import beside them; imports nothing."""
    for name in modules:
        _find(name)
    return sorted(closure(modules).values())


def _find(name: str) -> None:
    if name.endswith(".py") or "/" in name:
        raise CustomError(
            f"--custom {name}: expected the name of a Python module, such as {Path(name).stem}"
        )
    look_in_working_directory()
    if module_file(name) is None:
        raise CustomError(
            f"--custom {name}: there is no such module; run the command in its folder, or add that "
            "to PYTHONPATH"
        )


def _import(name: str) -> Any:
    _find(name)
    try:
        return import_own(name)
    except ImportError as error:
        raise CustomError(f"--custom {name}: cannot be imported: {with_place(error)}") from error


def _objects(module: Any) -> dict[str, Any]:
    import tensorflow as tf

    found = {}
    for name, value in vars(module).items():
        is_layer = inspect.isclass(value) and issubclass(value, tf.keras.layers.Layer)
        if not (is_layer or inspect.isfunction(value)) or value.__module__ != module.__name__:
            continue
        found[name] = found[tf.keras.utils.get_registered_name(value)] = value
    if not found:
        raise CustomError(f"--custom {module.__name__}: defines no layer and no function")
    return found
