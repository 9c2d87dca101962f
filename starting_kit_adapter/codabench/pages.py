"""The pages of the competition, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.corpus import Task
from ingestion.run.budget import COMPETITION_SECONDS

_OVERVIEW = """\
# {title}

How well does a trained network generalize? Tell from the network and its **training** data alone.

Submit a function that gives each network a number. The larger the number, the larger you predict
its generalization gap (accuracy on the training data minus accuracy on the test data) to be. Only
the order within a task counts. The rules are those of the NeurIPS 2020 competition *Predicting
Generalization in Deep Learning*.

| task | models |
| --- | --- |
{tasks}
"""

_SUBMISSION = """\
# How to submit

A zip *without a top folder*, with `complexity.py`, whatever it imports, and a file `metadata` of
one line, `description: ...` (no `command`).

```python
def complexity(model, dataset):
    ...
    return number  # float(number) must work, and be finite
```

- `model`: a trained `tf.keras.Sequential`. Where they are known, `model.initial_weights` are its
  weights before training.
- `dataset`: the training data, an unbatched `tf.data.Dataset` of `(inputs, output)` of unknown
  static shape. All models of a task get the same object.

A task has {seconds:g} seconds times its number of models. The models after the one that exceeds
them count as EXCEEDED, and the average score is then 0.{cap}

A submission that fails on any model of any task gets no score; its log says where it failed.

The sample solution was made by `pgdl bundle`, which writes any of its measures as a submission.
"""

_EVALUATION = """\
# Evaluation

Each task is scored by the conditional mutual information between the order of your numbers and that
of the gaps: for every two hyperparameters, ordered pairs of models are grouped by their values of
both, the information within the groups is divided by the entropy of the order of the gaps, and the
task's score is the smallest over the pairs of hyperparameters. The leaderboard is ordered by 100
times the mean over all tasks. A submission without predictions for a task is not scored.
"""

_TERMS = """\
# Terms

Predict from the models and the training data that your function is given. Do not look for the gaps
or the test data, and do not identify models by looking them up.
"""


_CAP = """
Besides, Codabench's default queue stops a submission after {cap} seconds in all, whatever the phase
says."""


def pages(title: str, tasks: Sequence[Task], cap: int | None = None) -> dict[str, str]:
    """The pages by their titles, in order; the last are the terms of participation.

    `cap` is the number of seconds that the queue gives a submission in all, if it has a limit.
    """
    cap_text = "" if cap is None else _CAP.format(cap=cap)
    rows = "\n".join(f"| {task.name} | {len(task.model_ids)} |" for task in tasks)
    return {
        "Overview": _OVERVIEW.format(title=title, tasks=rows),
        "Submission": _SUBMISSION.format(seconds=COMPETITION_SECONDS, cap=cap_text),
        "Evaluation": _EVALUATION,
        "Terms": _TERMS,
    }
