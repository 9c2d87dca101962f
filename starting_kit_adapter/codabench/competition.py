"""A Codabench competition bundle, version 2, around a corpus.

The structure is the published one (docs.codabench.org, Organizers / Benchmark Creation:
"Competition Bundle Structure" and "YAML Structure"), checked against what the platform's `v2`
unpacker reads. All tasks of the corpus make one task of Codabench, as in the original competition:
a submission is run over all of them and has a score for each and their average. The keys of the
columns are those of the `scores.json` that the scoring program writes.

    competition.yaml  logo.png  pages/*.md
    ingestion_program/  scoring_program/        folders; the platform zips them itself
    input_data/<task>/…                         what submissions may see (`submission.stage`)
    reference_data/<task>/model_configs.json
    solutions/<measure>.zip
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from ingestion.corpus import Task
from ingestion.errors import CorpusError
from ingestion.run.budget import COMPETITION_SECONDS
from pgdl_measures import complexity
from scoring.cmi import cmi
from scoring.errors import ScoringError
from scoring.kit.reference import read_reference
from starting_kit_adapter.bundle.archive import Content, zip_bytes
from starting_kit_adapter.bundle.errors import BundleError
from starting_kit_adapter.bundle.submission import submission_files
from starting_kit_adapter.codabench.logo import logo_png
from starting_kit_adapter.codabench.pages import pages
from starting_kit_adapter.codabench.programs import ingestion_program, scoring_program
from starting_kit_adapter.codabench.yaml_text import yaml_text
from starting_kit_adapter.submission.stage import visible_files

SOLUTION = "gi_intra_l0"
WORKER_DATA = "/app/data/"  # the worker's own data folder, mounted read-only

DEFAULT_QUEUE_SECONDS = 600  # the platform's cap per submission on its default queue

_MAX_TITLE, _MAX_IMAGE, _MAX_KEY = 256, 128, 36  # characters that its database has room for
_START_UP = 600  # seconds beyond the models' own, for the container and TensorFlow


@dataclass(frozen=True)
class Settings:
    """What an organizer decides."""

    title: str
    docker_image: str
    start: str  # "YYYY-MM-DD HH:MM:SS", UTC; the phase has no end
    input_data: str | None = None  # None: in the zip; or a data set's key; or below WORKER_DATA
    queue: str | None = None  # None: the default queue; or the vhost of a queue of compute workers
    auto_approve: bool = False  # registrations need no organizer's approval

    def __post_init__(self) -> None:
        _check_length("title", self.title, _MAX_TITLE)
        _check_length("docker image", self.docker_image, _MAX_IMAGE)
        try:
            datetime.strptime(self.start, "%Y-%m-%d %H:%M:%S")
        except ValueError as error:
            raise BundleError(
                f"the start is {self.start!r}; expected for example '2026-01-31 12:00:00'"
            ) from error
        if self.queue is not None and not _is_uuid(self.queue):
            raise BundleError(
                f"the queue is {self.queue!r}; expected the vhost of a queue (a UUID), which "
                "Codabench shows under Queues"
            )
        if self.input_data is not None and not self.at_worker and not _is_uuid(self.input_data):
            raise BundleError(
                f"the input data is {self.input_data!r}; expected the key of a data set on "
                f"Codabench (a UUID) or a folder below {WORKER_DATA}"
            )

    @property
    def at_worker(self) -> bool:
        """True if the compute workers have the data already."""
        return self.input_data is not None and self.input_data.startswith(WORKER_DATA)


def competition_files(tasks: Sequence[Task], settings: Settings) -> dict[str, Content]:
    """The files of the competition's zip, by their names in it."""
    for task in tasks:
        _check_scorable(task)
    cap = DEFAULT_QUEUE_SECONDS if settings.queue is None else None
    texts = pages(settings.title, tasks, cap)
    programs = {
        "ingestion_program": ingestion_program(settings.input_data if settings.at_worker else None),
        "scoring_program": scoring_program(),
    }
    solution = submission_files([complexity(SOLUTION)])
    files: dict[str, Content] = {
        "competition.yaml": yaml_text(_competition(tasks, settings, texts)).encode(),
        "logo.png": logo_png(),
        f"solutions/{SOLUTION}.zip": zip_bytes(solution),
        **{_page(title): text.encode() for title, text in texts.items()},
        **{f"{at}/{name}": text for at, part in programs.items() for name, text in part.items()},
        **{f"reference_data/{task.name}/model_configs.json": _reference(task) for task in tasks},
    }
    if settings.input_data is None:
        files.update(input_data(tasks))
    return files


def execution_seconds(tasks: Sequence[Task]) -> int:
    """How long one submission may take over all tasks, as the phase declares it."""
    models = sum(len(task.model_ids) for task in tasks)
    return int(COMPETITION_SECONDS * models) + _START_UP


def input_data(tasks: Sequence[Task]) -> dict[str, Content]:
    """The part of the corpus that submissions may see."""
    return {
        f"input_data/{name}": path for task in tasks for name, path in visible_files(task).items()
    }


def _competition(
    tasks: Sequence[Task], settings: Settings, texts: Mapping[str, str]
) -> dict[str, Any]:
    *shown, terms = texts
    task = {
        "index": 0,
        "name": settings.title,
        "description": ", ".join(task.name for task in tasks),
        "ingestion_program": "ingestion_program",
        "scoring_program": "scoring_program",
        "reference_data": "reference_data",
    }
    if settings.input_data is None:
        task["input_data"] = "input_data"
    elif not settings.at_worker:
        task["input_data"] = settings.input_data
    return {
        "version": 2,
        "title": settings.title,
        "description": "Predict the generalization gap of trained networks",
        "image": "logo.png",
        "terms": _page(terms),
        "docker_image": settings.docker_image,
        **({} if settings.queue is None else {"queue": settings.queue}),
        "registration_auto_approve": settings.auto_approve,
        "enable_detailed_results": True,
        "make_programs_available": True,
        "make_input_data_available": False,
        "pages": [{"title": title, "file": _page(title)} for title in shown],
        "phases": [
            {
                "index": 0,
                "name": "Submissions",
                "description": "Every submission is run over all models of all tasks.",
                "start": settings.start,
                "execution_time_limit": execution_seconds(tasks),
                "tasks": [0],
            }
        ],
        "tasks": [task],
        "solutions": [
            {"index": 0, "name": SOLUTION, "path": f"solutions/{SOLUTION}.zip", "tasks": [0]}
        ],
        "leaderboards": [
            {
                "title": "Results",
                "key": "main",
                "submission_rule": "Force_Last",
                "columns": columns([task.name for task in tasks]),
            }
        ],
    }


def columns(tasks: Sequence[str]) -> list[dict[str, Any]]:
    """The leaderboard's columns: the average that orders it, each task's score, the duration."""
    if "average" in tasks:
        raise BundleError(
            "the scores of a task named 'average' would take the key of the average score: rename "
            "the task's folder"
        )
    keys = {
        "task_average_score": ("Average", "desc", 4),
        **{f"task_{task}_score": (task, "desc", 6) for task in tasks},
        "Duration": ("Seconds", "asc", 0),
    }
    for key in keys:
        if len(key) > _MAX_KEY:
            raise BundleError(
                f"the column {key!r} has {len(key)} characters and Codabench takes {_MAX_KEY}: "
                "rename the task's folder"
            )
    return [
        {"title": title, "key": key, "index": index, "sorting": sorting, "precision": precision}
        for index, (key, (title, sorting, precision)) in enumerate(keys.items())
    ]


def _reference(task: Task) -> Path:
    if task.reference is None:
        raise CorpusError(task.folder, "has no model_configs.json, which the scores are made from")
    return task.reference


def _check_scorable(task: Task) -> None:
    """Refuses a task that no predictions could be scored on: every submission would fail."""
    try:
        reference = read_reference(_reference(task), task.name)
        cmi(reference.codes, reference.gap, reference.gap, sizes=reference.sizes)
    except ScoringError as error:
        raise BundleError(
            f"no submission could be scored on {task.name}: {error}; leave it out with --tasks"
        ) from error


def _check_length(what: str, text: str, most: int) -> None:
    if not 1 <= len(text.strip()) <= most:
        raise BundleError(
            f"the {what} has {len(text.strip())} characters and Codabench takes 1 to {most}"
        )


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _page(title: str) -> str:
    return f"pages/{re.sub('[^a-z]+', '_', title.lower())}.md"
