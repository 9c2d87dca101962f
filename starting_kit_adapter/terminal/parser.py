"""The parser of `pgdl` and of its verbs: absl's, with shorter help and errors.

An option is not abbreviated: the `--seed` of one verb would be the `--seeds` of another.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from absl.flags import argparse_flags

from pgdl_measures.errors import UnknownNameError


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Its usage line has only what must be given; the options are listed below it."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[Any],
        prefix: str | None = None,
    ) -> None:
        needed = [group for group in groups if group.required]
        either = [action for group in needed for action in group._group_actions]
        shown = [a for a in actions if a.required or not a.option_strings or a in either]
        super().add_usage(usage, shown, needed, prefix)


class Parser(argparse_flags.ArgumentParser):
    """Reads the arguments of `pgdl`, or of one verb."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": _Formatter, "allow_abbrev": False, **settings})
        for action in self._actions:
            if "--helpfull" in action.option_strings:  # absl's own flags
                action.help = argparse.SUPPRESS

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but here nothing may be left, so that the error is that of the verb."""
        parsed, left = super().parse_known_args(args, namespace)
        if left:
            self.error(f"unknown arguments: {' '.join(left)}{self._nearest(left)}")
        return parsed, left

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, gives the first example of the help, and exits with 2."""
        lines = [f"{self.prog}: {message}"]
        title, _, examples = (self.epilog or "").partition("\n")
        if title == "examples:":
            lines.append(f"for example:{examples.splitlines()[0][1:]}")
        self.exit(2, "\n".join([*lines, f"`{self.prog} -h` explains everything"]) + "\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            what = "verb" if action.nargs == argparse.PARSER else "/".join(action.option_strings)
            error = UnknownNameError(what, str(value), map(str, action.choices))
            raise argparse.ArgumentError(None, str(error))

    def _nearest(self, left: Sequence[str]) -> str:
        known = [name for action in self._actions for name in action.option_strings]
        near = difflib.get_close_matches(left[0].partition("=")[0], known, n=1)
        return f"; did you mean {near[0]}?" if near else ""
