"""A subcommand of a module that has HELP, EXAMPLES, `add_arguments` and `run`, or a smaller one."""

from __future__ import annotations

import importlib
from typing import Any

from starting_kit_adapter.terminal.text import as_sentence


def add_subcommand(subparsers: Any, name: str, module_name: str, dest: str) -> None:
    """Adds the module as the subcommand `name`; its `run` will be the parsed arguments' `dest`."""
    module = importlib.import_module(module_name)
    parser = add_parser(subparsers, name, module.HELP, epilog=module.EXAMPLES)
    module.add_arguments(parser)
    parser.set_defaults(**{dest: module.run})


def add_parser(subparsers: Any, name: str, text: str, **settings: Any) -> Any:
    """The parser of the subcommand `name`; `text` says what it does, in both helps."""
    sentence = as_sentence(text[0].upper() + text[1:])
    return subparsers.add_parser(name, help=text, description=sentence, **settings)
