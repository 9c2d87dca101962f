"""Runs a verb, or a study, in this process."""

from __future__ import annotations

import argparse
from types import ModuleType


def run_verb(module: ModuleType, *arguments: object) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.run(parser.parse_args([str(argument) for argument in arguments]))
