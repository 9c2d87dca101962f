"""`pgdl rank`: which of these models will do best on new data?"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from starting_kit_adapter.terminal.custom import add_custom
from starting_kit_adapter.terminal.numbers import positive
from starting_kit_adapter.terminal.output import output_file
from starting_kit_adapter.terminal.run_options import (
    add_again_arguments,
    add_set,
    add_time_limit,
    add_worker_arguments,
    make_limits,
    parse_options,
    run_arguments,
)
from starting_kit_adapter.terminal.run_progress import run_listener
from starting_kit_adapter.terminal.scale_option import add_scale
from starting_kit_adapter.terminal.selection import split_names
from starting_kit_adapter.terminal.stopping import tell_stopped
from starting_kit_adapter.terminal.text import Progress

if TYPE_CHECKING:
    from pgdl_measures.base import Measure
    from scoring.predictor import Predictor

HELP = "Rank trained models by the test accuracy that is predicted from their training data"
EXAMPLES = """\
examples:
  pgdl rank *.keras --data npz:mine.npz
  pgdl rank models/ other.h5 --data npz:mine.npz -o ranked/ --html ranking.html
  pgdl rank models/ --data npz:mine.npz -m mixup,contre_gap,path_norm --by gap
  pgdl rank models/ --data npz:mine.npz --predictor predictor.json      what `pgdl learn` learned

The data file needs x_train and y_train, the data that the models were trained on: images, vectors,
sequences or token ids, with labels as class numbers or one-hot. A test set (x_test, y_test) is not
used for the ranking; if the file has one, the table also shows the true test accuracies.

Each measure predicts the gap, the accuracy that a model loses on new data. Models are ranked by the
predicted test accuracy; with --by gap, by the predicted gap (smallest first). The order is that of
the mean rank over the measures; the interval of a rank is over measures, seeds and batches. Where
other models may be as good as the first, the answer begins with that. docs/rank.md says how well
this works and how the default measures were chosen. With -o the same command resumes an interrupted
ranking, and models can be added. The exit code is 1 if a model, or a measure that you named, was
left out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        metavar="MODEL",
        nargs="+",
        help="a .keras or .h5 file, a folder of such files or of models, or a glob",
    )
    parser.add_argument(
        "--data", required=True, help="their training data: npz:FILE, tfds:NAME or digits"
    )
    parser.add_argument(
        "-m",
        "--measures",
        help="names separated by commas, or your own module:function (default: see docs/rank.md)",
    )
    parser.add_argument(
        "--by",
        choices=("accuracy", "gap"),
        default="accuracy",
        help="rank by predicted test accuracy (default), or by predicted gap as in the competition",
    )
    parser.add_argument(
        "--predictor",
        metavar="FILE",
        help="also show the test accuracy that this predictor expects, with its 90 %% interval: a "
        "file by `pgdl learn`, or `mini`, which was learned from eight small tasks",
    )
    parser.add_argument("-o", "--output", type=Path, help="folder that keeps results, to resume")
    parser.add_argument(
        "--format",
        choices=("text", "json", "csv", "markdown"),
        default="text",
        help="what is printed (default: text)",
    )
    parser.add_argument(
        "--html", type=output_file(".html", ".htm"), metavar="PAGE", help="also write an HTML page"
    )
    how = parser.add_argument_group("how models and measures are computed")
    add_scale(how)
    how.add_argument(
        "--seeds",
        type=positive,
        default=5,
        help="random seeds per measure, for its standard error (default: 5)",
    )
    add_set(how)
    how.add_argument("--image-size", type=positive, help="resize images of tfds data to N x N")
    add_custom(how)
    add_again_arguments(how)
    add_time_limit(how)
    add_worker_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the ranking; 1 if a model or a measure had to be left out."""
    from ingestion.datasets.sources import check_source
    from ingestion.quiet import import_tensorflow
    from starting_kit_adapter.diagnose.rank.paths import find_models
    from starting_kit_adapter.terminal.output import need_writable

    paths = find_models(args.models)
    predictor = _predictor(args.predictor)
    check_source(args.data)
    for folder in filter(None, (args.output, args.html and args.html.parent)):
        need_writable(folder)
    from starting_kit_adapter.diagnose.rank.collecting import Collecting, Order

    seconds = make_limits(vars(args)).seconds
    with ExitStack() as stack:
        root = args.output or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = Order(
            root / "models", paths, args.data, args.image_size, args.scale, args.custom or ()
        )
        with Collecting(order, seconds, args.memory_limit) as collecting:
            import_tensorflow()  # while the models are read; without its start-up messages
            from starting_kit_adapter.diagnose.rank.formats import FORMATS, to_html
            from starting_kit_adapter.diagnose.rank.ranked import ranked
            from starting_kit_adapter.terminal.failures import warn

            facts = collecting.facts()
            measures = _measures(args, images=len(facts.shape) == 3)
            with Progress(len(paths), "models read") as progress:
                members, refused = collecting.members(progress.step)
        names = {member.model: member.name for member in members}
        for member in members:
            if member.warning:
                warn(f"{member.name}: {member.warning}")
        try:
            with Progress(0, "models measured") as progress:
                ranking = ranked(
                    root,
                    members,
                    measures,
                    refused,
                    facts,
                    by=args.by,
                    seeds=args.seeds,
                    predictor=predictor,
                    listener=run_listener(progress, name=lambda job: names[job.model]),
                    **run_arguments(vars(args)),
                )
        except KeyboardInterrupt as error:
            if args.output is None:
                return tell_stopped(error, "with -o OUT, the same command would resume")
            return tell_stopped(error)
    print(FORMATS[args.format](ranking), end="")
    if args.html:
        from scoring.files import write_whole

        write_whole(args.html, to_html(ranking))
        print(f"wrote {args.html}", file=sys.stderr)
    # A measure that was not asked for by its name and does not apply is no failure.
    named = set(split_names(args.measures or ""))
    expected = {measure.name for measure in measures} - named
    return 1 if set(ranking.left_out) - expected else 0


def _predictor(path: str | None) -> Predictor | None:
    from scoring.predictor import read_predictor

    return None if path is None else read_predictor(path)


def _measures(args: argparse.Namespace, *, images: bool) -> list[Measure]:
    from ingestion.run.chosen import choose_measures, left_out_of_all
    from pgdl_measures.base import IMAGES
    from pgdl_measures.ranking.predictions import check_scale
    from pgdl_measures.ranking.recommended import recommended

    names = split_names(args.measures or "") or recommended(images=images)
    offers = [IMAGES] if images else []  # model files have no weights from before training
    measures = choose_measures(names, parse_options(args.set), offers=offers)
    left_out = left_out_of_all(offers) if "all" in names else None
    if left_out:
        print(left_out, file=sys.stderr)
    check_scale(measures, args.by)
    return measures
