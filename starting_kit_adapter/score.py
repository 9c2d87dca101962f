"""The kit's scoring program: `python -m starting_kit_adapter.score REF PRED OUT`, or `INPUT OUT`.

With two arguments the references are in `INPUT/ref` and the predictions in `INPUT/res`, as CodaLab
and Codabench lay them out. Exits 0 if the kit's rules give an average, even if single tasks could
not be scored (the reasons are printed), and 1 if not.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from scoring.errors import ScoringError
from scoring.program import score_folders
from scoring.results import kit_lines, write_results

USAGE = """\
usage: python -m starting_kit_adapter.score REFERENCE PREDICTIONS OUTPUT
       python -m starting_kit_adapter.score INPUT OUTPUT      (with INPUT/ref and INPUT/res)"""


def main(arguments: Sequence[str]) -> int:
    """Scores, writes, prints what it did and returns the exit code."""
    if len(arguments) == 3:
        reference, predictions, output = map(Path, arguments)
    elif len(arguments) == 2:
        reference, predictions = Path(arguments[0]) / "ref", Path(arguments[0]) / "res"
        output = Path(arguments[1])
    else:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        scores = score_folders(reference, predictions)
        written = write_results(scores, output)
    except ScoringError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1

    for key, value in kit_lines(scores).items():
        print(f"{key}: {value}")
    for note in scores.notes:
        print(note)
    print(f"wrote {', '.join(path.name for path in written)} to {output}")
    if not scores.has_average:
        print("error: no task could be scored", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
