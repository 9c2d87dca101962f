"""The kit's ingestion program, for any submission: a folder or a zip with `complexity.py`.

    python -m starting_kit_adapter.ingestion INPUT OUTPUT PROGRAM SUBMISSION

Runs the submission over all tasks of INPUT by the kit's rules and writes `OUTPUT/<task>.predict` at
the end of each task. A `.predict` that is in OUTPUT before is deleted: a platform may have copied
the submission's own files there. A task has 300 seconds per model, looked at after each model; the
models after the one that exceeds them are EXCEEDED. The submission runs in its own process, which
is given models and training data, but neither the output nor, where INPUT has them, the gaps (see
`submission.stage` for what that is worth). If it fails, this program says where and exits with 1;
the tasks finished before keep their files.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ingestion.corpus import Task, find_corpus
from ingestion.run.budget import COMPETITION_SECONDS, EXCEEDED
from pgdl_measures.errors import PgdlError
from scoring.errors import ScoringError
from scoring.files import write_whole
from scoring.kit.predictions import SUFFIX
from starting_kit_adapter.submission.errors import SubmissionError
from starting_kit_adapter.submission.metadata import check_metadata
from starting_kit_adapter.submission.process import SubmissionProcess
from starting_kit_adapter.submission.stage import environment, stage
from starting_kit_adapter.submission.unzip import unzip

USAGE = "usage: python -m starting_kit_adapter.ingestion INPUT OUTPUT PROGRAM SUBMISSION"


def main(arguments: Sequence[str]) -> int:
    """Runs the submission, prints what it does and returns the exit code."""
    if len(arguments) != 4:
        print(USAGE, file=sys.stderr)
        return 2
    inputs, output, program, submission = map(Path, arguments)
    try:
        run_submission(inputs, output, program, submission)
    except (PgdlError, ScoringError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def run_submission(
    inputs: Path,
    output: Path,
    program: Path,
    submission: Path,
    *,
    seconds_per_model: float = COMPETITION_SECONDS,
) -> None:
    """Writes the predictions of a submission for every task of `inputs`."""
    tasks = find_corpus(inputs).tasks
    _delete_predictions(output)
    with tempfile.TemporaryDirectory(prefix="pgdl_") as temporary:
        corpus, unpacked, work = (
            Path(temporary) / name for name in ("input", "submission", "work")
        )
        for folder in (corpus, unpacked, work):
            folder.mkdir()
        stage(tasks, corpus)
        with SubmissionProcess(
            str(submission),
            corpus=corpus,
            program=program.resolve(),
            submission=_folder(submission, unpacked),
            folder=work,
            environment=environment(inputs),
        ) as process:
            for task in tasks:
                values = run_task(task, process.measure, seconds_per_model=seconds_per_model)
                write_whole(output / f"{task.name}{SUFFIX}", json.dumps(values, indent=1) + "\n")


def run_task(
    task: Task,
    measure: Callable[[str, str], float],
    *,
    seconds_per_model: float = COMPETITION_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, float | str]:
    """The prediction of every model of a task, EXCEEDED for those after the budget ran out."""
    budget = seconds_per_model * len(task.model_ids)
    start = clock()
    values: dict[str, float | str] = {}
    for model_id in task.model_ids:
        if clock() - start > budget:
            values[model_id] = EXCEEDED
            continue
        values[model_id] = measure(task.name, model_id)
        print(f"{task.name} {model_id}: {values[model_id]}", flush=True)
    if EXCEEDED in values.values():
        print(f"{task.name}: more than {budget:g} seconds, the rest is {EXCEEDED}", flush=True)
    return values


def _delete_predictions(output: Path) -> None:
    for path in output.glob(f"*{SUFFIX}"):
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError as error:
            raise SubmissionError(f"cannot delete {path}: {error.strerror}") from error


def _folder(submission: Path, unpacked: Path) -> Path:
    """The folder of the submission, unpacked if it is a zip, with `complexity.py` at its top."""
    if submission.is_file():
        unzip(submission, unpacked)
        folder = unpacked
    else:
        folder = submission.resolve()
    if not (folder / "complexity.py").is_file():
        raise SubmissionError(
            f"{submission} has no complexity.py at its top: expected a folder, or a zip without a "
            "top folder, with complexity.py in it"
        )
    check_metadata(folder)
    return folder


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
