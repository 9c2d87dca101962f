"""The kit's scoring program: `python -m starting_kit_adapter.score REF PRED OUT`, or `INPUT OUT`.

With two arguments the references are in `INPUT/ref` and the predictions in `INPUT/res`, as CodaLab
and Codabench lay them out. There every task needs a score: by the kit's rules a task without one
leaves the average, so a submission would be ranked by the tasks that it did not fail on. With three
arguments the kit's rules hold as they are, with a warning where the average is of some tasks only.

The platforms run this program whether or not the submission was run to its end. Its exit code is in
the `metadata` beside the predictions, and where it is not 0 there is nothing to score.

Exits 0 if there is an average, and 1, with the reasons, if not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from scoring.errors import ScoringError
from scoring.kit.program import score_folders
from scoring.kit.results import kit_lines, write_results
from starting_kit_adapter.terminal.streams import prepare_streams

USAGE = """\
usage: python -m starting_kit_adapter.score REFERENCE PREDICTIONS OUTPUT
       python -m starting_kit_adapter.score INPUT OUTPUT      (with INPUT/ref and INPUT/res)"""


def main(arguments: Sequence[str]) -> int:
    """Scores, writes, prints what it did and returns the exit code."""
    prepare_streams()
    on_platform = len(arguments) == 2
    if len(arguments) == 3:
        reference, predictions, output = map(Path, arguments)
    elif on_platform:
        reference, predictions = Path(arguments[0]) / "ref", Path(arguments[0]) / "res"
        output = Path(arguments[1])
    else:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        _check_ingestion(predictions / "metadata")
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
    missing = [task.task for task in scores.failed if not task.exceeded]
    if missing:
        level = "error" if on_platform else "warning"
        of = f"{len(scores.scored)} of {len(scores.tasks)} tasks"
        print(
            f"{level}: the average is of {of}; no score for {', '.join(missing)}", file=sys.stderr
        )
    return 1 if missing and on_platform else 0


def _check_ingestion(metadata: Path) -> None:
    """Raises a `ScoringError` if the platform says that the ingestion program failed."""
    try:
        text = metadata.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return  # not on a platform
    found = re.search(r"^ingestionExitCode:[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    if found and found[1] != "0":
        raise ScoringError(
            f"the submission was not run to its end: the ingestion program's exit code is "
            f"{found[1] or 'missing'}. Its log says why"
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
