"""`pgdl ls`: lists measures, tasks, models and layers. The first three need no TensorFlow, but the
entry of one measure does."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pgdl_measures.errors import PgdlError
from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.selection import add_corpus, add_tasks
from starting_kit_adapter.terminal.subcommands import add_parser
from starting_kit_adapter.terminal.text import table

if TYPE_CHECKING:
    from ingestion.corpus import Task

HELP = "List the tasks or models of a corpus, the measures, or the layers of a model"
EXAMPLES = """\
examples:
  pgdl ls measures                                    all of them
  pgdl ls measures gi_intra_l0                        formula, paper, options of one
  pgdl ls measures 'contre_*' --max-cost medium
  pgdl ls measures --family norms --without "initial weights"
  pgdl ls measures --markdown > docs/measures.md
  pgdl ls tasks zoo/
  pgdl ls models zoo/ --tasks digits
  pgdl ls layers my_resnet.keras                      what l = 1, 2, … mean in gi_intra_l2
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    _add_measures(add_parser(what, "measures", "list all measures, or the details of one"))
    tasks = add_parser(what, "tasks", "list the tasks of a corpus")
    add_corpus(tasks)
    models = add_parser(what, "models", "list the models of a corpus with their gaps")
    add_corpus(models)
    add_tasks(models)
    layers = add_parser(what, "layers", "list the layers of a model and their numbers")
    layers.add_argument(
        "model", type=Path, help="a .keras or .h5 file, a SavedModel, or model_<id>/"
    )
    add_custom(layers)


def _add_measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="a measure, or a pattern such as 'gi_*'"
    )
    parser.add_argument("--family", help="only measures of this family")
    parser.add_argument(
        "--needs", metavar="WHAT", help="only measures that need this, such as images"
    )
    parser.add_argument("--without", metavar="WHAT", help="only measures that do not need this")
    parser.add_argument(
        "--max-cost",
        metavar="COST",
        help="only measures up to this cost: weights, low, medium or high",
    )
    parser.add_argument("--markdown", action="store_true", help="print docs/measures.md")


def run(args: argparse.Namespace) -> int:
    if args.what == "measures":
        return _measures(args)
    if args.what == "layers":
        return _layers(args)

    from ingestion.corpus import find_corpus

    corpus = find_corpus(args.corpus)
    if args.what == "tasks":
        rows = [[t.name, len(t.model_ids), str(t.reference or "-")] for t in corpus.tasks]
        print(table(["task", "models", "reference"], rows))
        return 0
    for task in corpus.select(args.tasks):
        print(f"{task.name}\n{_models(task)}\n")
    return 0


def _measures(args: argparse.Namespace) -> int:
    from pgdl_measures.registry import complexity, measures
    from starting_kit_adapter.terminal.measures import NAMES, markdown, measure_list, measure_page

    name = args.name or "*"
    filters = {key: getattr(args, key) for key in ("family", "needs", "without", "max_cost")}
    is_pattern = bool(set(name) & set("*?["))
    found = measures(name, **filters) if is_pattern else [complexity(name)]
    if args.markdown or not is_pattern:
        from ingestion.quiet import import_tensorflow

        import_tensorflow()  # the options are read from the code of the measures
    if args.markdown:
        print(markdown(found), end="")
    elif not is_pattern:
        print(measure_page(found[0]))
    elif found:
        print(f"{measure_list(found)}\n\n{len(found)} of {len(measures())} measures.\n{NAMES}")
    else:
        raise PgdlError("no measure matches; `pgdl ls measures` lists all")
    return 0


def _layers(args: argparse.Namespace) -> int:
    from ingestion.quiet import import_tensorflow

    import_tensorflow()

    from ingestion.model_files.any_model import read_model
    from pgdl_measures.network.description import describe_layers

    config, model = read_model(args.model, args.custom or ())
    described = describe_layers(model, tuple(int(size) for size in config["input_shape"]))
    rows = [
        [layer.number, " x ".join(map(str, layer.shape)), layer.computes, layer.name]
        for layer in described
    ]
    print(table(["l", "shape", "computes", "ends with"], rows))
    print(
        f"\nMeasures enter this network at l = 0 to {len(described) - 2}, as in gi_intra_l1; "
        "the last row is its outputs."
    )
    return 0


def _models(task: Task) -> str:
    from scoring.kit.reference import read_reference

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
