"""`pgdl ls`: what there is. Needs no TensorFlow."""

from __future__ import annotations

import argparse
from pathlib import Path

from starting_kit_adapter.cli.text import table

HELP = "List the tasks or models of a corpus, or the measures"
EXAMPLES = """\
examples:
  pgdl ls measures
  pgdl ls tasks zoo/
  pgdl ls models zoo/ --tasks digits
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    what.add_parser("measures", help="the registered measures")
    tasks = what.add_parser("tasks", help="the tasks of a corpus")
    tasks.add_argument("corpus", type=Path)
    models = what.add_parser("models", help="the models of a corpus, with what is known of them")
    models.add_argument("corpus", type=Path)
    models.add_argument("--tasks", help="only these, separated by commas")


def run(args: argparse.Namespace) -> int:
    if args.what == "measures":
        from pgdl_measures import measures

        shown = [[m.name, m.summary, ", ".join(m.needs)] for m in measures()]
        print(table(["measure", "what it is", "needs"], shown))
        return 0

    from ingestion.corpus import find_corpus

    corpus = find_corpus(args.corpus)
    if args.what == "tasks":
        rows = [[t.name, len(t.model_ids), str(t.reference or "-")] for t in corpus.tasks]
        print(table(["task", "models", "reference"], rows))
        return 0
    for task in corpus.select(args.tasks):
        print(f"{task.name}\n{_models(task)}\n")
    return 0


def _models(task) -> str:  # type: ignore[no-untyped-def]
    from scoring.reference import read_reference

    if task.reference is None:
        return table(["model"], [[model_id] for model_id in task.model_ids])
    reference = read_reference(task.reference, task.name)
    known = dict(zip(reference.ids, range(len(reference.ids))))
    rows = []
    for model_id in task.model_ids:
        if model_id in known:
            i = known[model_id]
            cell = [values[code] for values, code in zip(reference.values, reference.codes[i])]
            accuracies = [reference.train_acc[i], reference.test_acc[i], reference.gap[i]]
            rows.append([model_id, *map(str, cell), *map(float, accuracies)])
        else:
            rows.append([model_id, *["?"] * len(reference.hparams), None, None, None])
    return table(["model", *reference.hparams, "train", "test", "gap"], rows)
