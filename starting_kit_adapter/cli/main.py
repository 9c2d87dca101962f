"""Entry point of `pgdl`: finds the verb, parses its arguments, turns errors into one line."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from logging import Formatter

from absl import logging

from ingestion.run.fingerprint import toolkit_version
from pgdl_measures.errors import PgdlError
from scoring.errors import ScoringError
from starting_kit_adapter.terminal.negation import join_negated
from starting_kit_adapter.terminal.parser import Parser
from starting_kit_adapter.terminal.stopping import stop_as_interrupted, tell_stopped
from starting_kit_adapter.terminal.streams import prepare_streams
from starting_kit_adapter.terminal.subcommands import add_subcommand

VERBS = (
    *("rank", "invariance", "overfit"),
    *("ls", "check", "zoo"),
    *("run", "table", "report", "combine", "score", "learn", "limits", "study"),
    *("bundle", "codabench-bundle"),
)

DESCRIPTION = """\
Predict how well trained networks generalize, from the networks and their training data alone.

your own models, and the data that they were trained on:
  pgdl rank *.keras --data npz:mine.npz                 which of them will do best?
  pgdl invariance model.keras --data npz:mine.npz       how much rotation or noise does it bear?
  pgdl overfit model.keras --data npz:mine.npz          is it overfitted to this test set?

which measures predict the gap, on many models:
  pgdl zoo build --data digits --grid digits -o zoo     train a small zoo (a grid of models)
  pgdl check zoo --accuracy                             are all files and models readable?
  pgdl run zoo -m gi_intra_l0,mixup -o out              compute two measures for every model
  pgdl report out -o report.html                        how well do they predict the gaps?

words:
  gap       training accuracy minus test accuracy
  measure   a number computed from a network and its training data; larger predicts a larger gap
  task      a data set and the networks that were trained on it
  corpus    a folder of tasks; a zoo is a corpus whose networks `pgdl zoo` trained or added
  run       the folder of values that `pgdl run` wrote
"""


def make_parser() -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="pgdl", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"pgdl {toolkit_version()}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in VERBS:
        module = f"starting_kit_adapter.cli.{name.replace('-', '_')}"
        add_subcommand(verbs, name, module, "run")
    return parser


def main(args: argparse.Namespace) -> int:
    """Runs the parsed verb and returns the exit code."""
    try:
        return args.run(args)
    except (PgdlError, ScoringError) as error:
        logging.error("%s", error)
        return 1
    except BrokenPipeError:  # `pgdl ls … | head`
        return 1
    except UnicodeEncodeError as error:  # names of files may be bytes that are text in no encoding
        near = error.object[max(0, error.start - 40) : error.end + 40]
        logging.error("%a is not UTF-8: rename the file or folder, or change the option", near)
        return 1
    except OSError as error:  # a folder that is a file, a full disk, a missing permission
        full = error.errno in (errno.ENOSPC, errno.EIO)
        unnamed = "the standard output, or a file that was open" if full else "the system refused"
        place = error.filename or unnamed
        logging.error("%s: %s", place, error.strerror or error)
        return 1
    except KeyboardInterrupt as error:
        return tell_stopped(error, "run the same command again")


def entry_point() -> None:
    """The console script.

    Not `absl.app.run`: imported inside of it, TensorFlow up to 2.14 compares tensors by identity.
    """
    stop_as_interrupted()
    prepare_streams()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up messages
    # By itself TensorFlow leaves oneDNN's convolutions, which are faster, off on older processors.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    logging.use_absl_handler()
    logging.get_absl_handler().setFormatter(Formatter("pgdl: %(message)s"))
    code: str | int | None
    try:
        code = main(make_parser().parse_args(join_negated(sys.argv[1:])))
    except SystemExit as end:  # help, or arguments that are wrong
        code = end.code
    sys.exit(code if _all_is_printed() else code or 1)


def _all_is_printed() -> bool:
    """Whether the whole output was written; prints why not, unless its reader has ended.

    The rest is dropped: Python would try again when it exits, and print a traceback.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            logging.error("cannot write to the standard output: %s", error.strerror)
        return False
    return True


if __name__ == "__main__":
    entry_point()
