"""The arguments that name a corpus, or a model, and what of it a command is about."""

from __future__ import annotations

import argparse
from pathlib import Path

from starting_kit_adapter.terminal.numbers import positive


def split_names(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def add_corpus(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """The corpus, before all options."""
    parser.add_argument(
        "corpus",
        type=Path,
        nargs=None if required else "?",
        help="the folder that holds the tasks, or one task",
    )


def add_tasks(group: argparse._ActionsContainer) -> None:
    """Some tasks of the corpus."""
    group.add_argument("--tasks", metavar="A,B", help="only these tasks, separated by commas")


def add_models(group: argparse._ActionsContainer) -> None:
    """Some models of each task."""
    group.add_argument("--models", metavar="A,B", help="only these models, separated by commas")
    add_max_models(group)


def add_max_models(group: argparse._ActionsContainer) -> None:
    """The number of models; `--limit` is its old name."""
    group.add_argument(
        "--max-models",
        "--limit",
        type=positive,
        metavar="N",
        help="only the first N models of each task",
    )


def add_model(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """One trained model."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        type=Path,
        nargs=None if required else "?",
        help="a .keras or .h5 file, a SavedModel, or model_<id>/",
    )
