"""The process that a submission runs in: asked for one model after the other, answers with values.

    python -m …submission.worker CHANNEL CORPUS PROGRAM SUBMISSION

CHANNEL is that of `ingestion.processes`: the worker ends when its parent does. Over it go lines of
JSON, `{"task": …, "model": …}` in, and `{"value": …}` or `{"error": …}` out. The submission is
called as the kit calls it: both folders are appended to `sys.path`, `complexity` is imported from
`complexity`, the session is cleared before every model, and the models of a task get one dataset
object.
"""

from __future__ import annotations

import inspect
import json
import math
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.processes import connect_to_parent
from ingestion.quiet import import_tensorflow

_LONGEST = 2000  # characters of a reason


def main(arguments: Sequence[str]) -> None:
    """Answers requests until there are no more."""
    channel, corpus, program, submission = arguments
    connection = connect_to_parent(channel)
    both_ways = connection.fileno()
    serve: Callable[[dict[str, str]], float] | None = None
    with open(both_ways, closefd=False) as requests, open(both_ways, "w", closefd=False) as answers:
        for line in requests:
            try:
                if serve is None:
                    serve = _server(corpus, program, submission)
                answer: dict[str, Any] = {"value": serve(json.loads(line))}
            except BaseException as error:  # whatever a submission raises, SystemExit too
                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}"[:_LONGEST]}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _server(corpus: str, program: str, submission: str) -> Callable[[dict[str, str]], float]:
    import_tensorflow()
    import tensorflow as tf

    from ingestion.corpus import find_corpus
    from ingestion.datasets.data import load_dataset
    from starting_kit_adapter.submission.kit_model import load_kit_model

    tasks = {task.name: task for task in find_corpus(corpus).tasks}
    measure = import_complexity(program, submission)
    dataset: dict[tuple[str, str], tf.data.Dataset] = {}

    def serve(request: dict[str, str]) -> float:
        task = tasks[request["task"]]
        own = task.dataset_of(request["model"])
        if (task.name, own) not in dataset:
            dataset.clear()
            dataset[task.name, own] = load_dataset(task.shards(dataset=own))
        tf.keras.backend.clear_session()
        model = load_kit_model(task.model_folder(request["model"]))
        return as_number(measure(model, dataset[task.name, own]))

    return serve


def import_complexity(program: str, submission: str) -> Callable[[Any, Any], Any]:
    """The submission's `complexity(model, dataset)`.

    Where it wants the folder of the ingestion program too, under the name `program_dir` that
    participants gave it, it gets that.
    """
    sys.path += [program, submission]
    module: Any = __import__("complexity")
    function = module.complexity
    if Path(module.__file__).resolve().parent != Path(submission).resolve():
        raise ImportError(f"complexity was found in {module.__file__}, not in the submission")
    if "program_dir" in inspect.signature(function).parameters:
        return lambda model, dataset: function(model, dataset, program_dir=program)
    return function


def as_number(value: Any) -> float:
    """`float(value)`, as in the kit, if that is a finite number.

    Of arrays and tensors of one element too, which NumPy took for numbers at the kit's time.
    """
    try:
        number = float(np.asarray(value).item())
    except (TypeError, ValueError) as error:
        raise TypeError(f"complexity returned {value!r}, which is not a number") from error
    if not math.isfinite(number):
        raise ValueError(f"complexity returned {number}, which cannot be ranked")
    return number


if __name__ == "__main__":
    main(sys.argv[1:])
