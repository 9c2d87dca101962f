"""The option `--custom` of every command that reads a user's models."""

from __future__ import annotations

import argparse


def add_custom(group: argparse._ActionsContainer) -> None:
    """Which modules define layers of the user's own; no others are imported."""
    group.add_argument(
        "--custom",
        metavar="MODULES",
        type=module_names,
        help="Python modules that define layers of your own, separated by commas; found in the "
        "working directory or on PYTHONPATH",
    )


def module_names(text: str) -> list[str]:
    """The modules that were named."""
    return [name.strip() for name in text.split(",") if name.strip()]
