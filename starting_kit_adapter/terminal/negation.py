"""Negated measures on the command line: `-m -mixup,gi_intra_l0`.

To argparse `-mixup` is the option `-m` with the value `ixup`. Names of measures have two characters
or more and options with one dash have one, so that the two can be told apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPTIONS = ("-m", "--measures")
_NEGATED = re.compile(r"-\w{2,}[\w:,.\s-]*")


def join_negated(arguments: Sequence[str]) -> list[str]:
    """The arguments with `-m -mixup` written as `--measures=-mixup`, which argparse understands."""
    joined: list[str] = []
    for argument in arguments:
        if joined and joined[-1] in _OPTIONS and _NEGATED.fullmatch(argument):
            joined[-1] = f"--measures={argument}"
        else:
            joined.append(argument)
    return joined
