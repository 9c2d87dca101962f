"""The option `--custom` of every command that reads a user's models."""

from __future__ import annotations

import argparse

from starting_kit_adapter.terminal.selection import split_names


def add_custom(group: argparse._ActionsContainer) -> None:
    """Which modules define layers of the user's own; no others are imported."""
    group.add_argument(
        "--custom",
        metavar="MODULES",
        type=split_names,
        help="Python modules that define layers of your own, separated by commas; found in the "
        "working directory or on PYTHONPATH",
    )
