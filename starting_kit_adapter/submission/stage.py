"""The part of a corpus that a submission is given: trained models and training data, nothing else.

In the kit's layout `model_configs.json`, with the gaps to be predicted, may lie inside the task's
folder, and the test data beside the training data. So the submission works on a folder of links to
just the files that its models and its dataset are made of.

This hides the gaps from a program that reads the folders it is given. It does not stop one that
follows a link to the corpus: a process of the same user can read whatever the user can. Run code
that you do not trust in a container that has only the input data mounted, as Codabench does and
`docker/run.sh --submission SUBMISSION CORPUS OUT`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ingestion.corpus import MODEL_FILES, Task


def visible_files(task: Task) -> dict[str, Path]:
    """The files of a task that are given to submissions, by their paths below the corpus."""
    files = {
        f"{task.name}/{dataset}/train/{shard.name}": shard.resolve()
        for dataset in task.datasets
        for shard in task.shards(dataset=dataset)
    }
    for model_id in task.model_ids:
        for name in MODEL_FILES:
            path = task.model_folder(model_id) / name
            if os.path.isfile(path):
                files[f"{task.name}/{model_id}/{name}"] = path.resolve()
    return files


def stage(tasks: Iterable[Task], folder: Path) -> None:
    """Fills `folder` with a corpus of links to the visible files of `tasks`."""
    for task in tasks:
        for name, path in visible_files(task).items():
            link = folder / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(path)


def environment(hidden: Path) -> dict[str, str]:
    """This process's environment without the variables that name the folder `hidden`."""
    path = hidden.resolve()

    def names(value: str) -> bool:
        return str(path) in value or "reference_data" in value or value == str(path.parent)

    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PWD", "OLDPWD") and not names(value)
    }
