"""A subcommand from a module that has HELP, EXAMPLES, `add_arguments` and `run`."""

from __future__ import annotations

import argparse
import importlib
from typing import Any

from starting_kit_adapter.terminal.text import as_sentence


def add_subcommand(subparsers: Any, name: str, module_name: str, dest: str) -> None:
    """Adds the module as the subcommand `name`; its `run` will be the parsed arguments' `dest`."""
    module = importlib.import_module(module_name)
    parser = subparsers.add_parser(
        name,
        help=module.HELP,
        description=as_sentence(module.HELP),
        epilog=module.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    parser.set_defaults(**{dest: module.run})
