"""The option that says how images of bytes are given to a model."""

from __future__ import annotations

import argparse


def add_scale(
    parser: argparse._ActionsContainer, otherwise: str = "", more: tuple[str, ...] = ()
) -> None:
    """Adds `--scale`; `otherwise` says what `auto` does where there is no model yet, `more` are
    values of another meaning."""
    parser.add_argument(
        "--scale",
        choices=("auto", "unit", "none", *more),
        metavar="{auto,unit,none}",
        default="auto",
        help="scale of byte images. unit: divided by 255; none: 0 to 255; auto: for each model the "
        f"one with the higher training accuracy{otherwise} (default: auto)",
    )
