"""The kit's ingestion program, for any submission: a folder or a zip with `complexity.py`.

    python -m starting_kit_adapter.ingestion INPUT OUTPUT PROGRAM SUBMISSION

Runs the submission over all tasks of INPUT by the kit's rules and writes `OUTPUT/<task>.predict` at
the end of each task. A `.predict` that is in OUTPUT before is deleted: a platform may have copied
the submission's own files there. A task has 300 seconds per model, looked at after each model; the
models after the one that exceeds them are EXCEEDED. A model that takes 300 seconds beyond them is
stopped, and EXCEEDED too. If the submission fails, this program says where and exits with 1; the
tasks finished before keep their files.

The submission runs in its own process, which ends with this program, as does everything that it
started. The process is given models and training data, but neither the output nor, where INPUT has
them, the gaps (see `submission.stage` for what that is worth).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ingestion.corpus import Task, find_corpus
from ingestion.run.budget import COMPETITION_SECONDS, EXCEEDED
from pgdl_measures.errors import PgdlError
from scoring.errors import ScoringError
from scoring.files import write_whole
from scoring.kit.predictions import SUFFIX
from starting_kit_adapter.submission.errors import OutOfTimeError, SubmissionError
from starting_kit_adapter.submission.metadata import check_metadata
from starting_kit_adapter.submission.process import SubmissionProcess
from starting_kit_adapter.submission.stage import environment, stage
from starting_kit_adapter.submission.unzip import unzip
from starting_kit_adapter.terminal.numbers import positive_number, size
from starting_kit_adapter.terminal.stopping import stop_as_interrupted, tell_stopped
from starting_kit_adapter.terminal.streams import prepare_streams

WARNING = """\
The submission is a program that runs as you. It is given no path to the gaps (model_configs.json),
the test data or OUTPUT, its processes are ended, and time and memory are limited. But it can read
and write whatever you can, the gaps included. Run code of strangers in a container that has only
what it may see: `docker/run.sh --submission SUBMISSION CORPUS OUT`.
"""


def main(arguments: Sequence[str]) -> int:
    """Runs the submission, prints what it does and returns the exit code."""
    prepare_streams()
    args = _parser().parse_args(arguments)
    stop_as_interrupted()
    try:
        run_submission(
            args.input,
            args.output,
            args.program,
            args.submission,
            seconds_per_model=args.time_limit,
            memory=args.memory_limit,
        )
    except (PgdlError, ScoringError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        return tell_stopped(error, "the tasks finished before have their files")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m starting_kit_adapter.ingestion",
        description="Run a submission over all models of all tasks, by the kit's rules.",
        epilog=WARNING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("input", type=Path, help="the folder that holds the tasks")
    parser.add_argument("output", type=Path, help="where <task>.predict is written")
    parser.add_argument("program", type=Path, help="the ingestion program's folder, as in the kit")
    parser.add_argument("submission", type=Path, help="a folder or a zip with complexity.py")
    parser.add_argument(
        "--time-limit",
        type=positive_number,
        default=COMPETITION_SECONDS,
        metavar="SECONDS",
        help="of a task, per model in it (default: %(default)g)",
    )
    parser.add_argument(
        "--memory-limit",
        type=size,
        metavar="SIZE",
        help="of all processes of the submission, such as 26G (default: none); Linux only",
    )
    return parser


def run_submission(
    inputs: Path,
    output: Path,
    program: Path,
    submission: Path,
    *,
    seconds_per_model: float = COMPETITION_SECONDS,
    memory: int | None = None,
) -> None:
    """Writes the predictions of a submission for every task of `inputs`.

    `memory` limits the bytes of all processes of the submission together.
    """
    tasks = find_corpus(inputs).tasks
    _delete_predictions(output)
    predictions: dict[Path, str] = {}
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
            memory=memory,
        ) as process:
            for task in tasks:
                values = run_task(task, process.measure, seconds_per_model=seconds_per_model)
                predictions[output / f"{task.name}{SUFFIX}"] = json.dumps(values, indent=1) + "\n"
                _write(predictions)
        _write(predictions)  # what a submission has done to them no longer counts


def run_task(
    task: Task,
    measure: Callable[[str, str, float], float],
    *,
    seconds_per_model: float = COMPETITION_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, float | str]:
    """The prediction of every model of a task, EXCEEDED for those after the budget ran out.

    `measure(task, model, seconds)` raises an `OutOfTimeError` where the seconds are not enough.
    """
    budget = seconds_per_model * len(task.model_ids)
    start = clock()
    values: dict[str, float | str] = {}
    for model_id in task.model_ids:
        left = budget - (clock() - start)
        if left < 0:
            values[model_id] = EXCEEDED
            continue
        try:
            # By the kit's rules the model under way when the budget ends may take its time.
            values[model_id] = measure(task.name, model_id, left + seconds_per_model)
        except OutOfTimeError:
            values[model_id] = EXCEEDED
        print(f"{task.name} {model_id}: {values[model_id]}", flush=True)
    if EXCEEDED in values.values():
        print(f"{task.name}: more than {budget:g} seconds, the rest is {EXCEEDED}", flush=True)
    return values


def _write(predictions: Mapping[Path, str]) -> None:
    for path, text in predictions.items():
        write_whole(path, text)


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
