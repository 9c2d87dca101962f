"""Measures over the models of a corpus: the entry point of `pgdl run`, of the studies, of scripts.

from ingestion import evaluate

report = evaluate("zoo/", ["gi_intra_l0", "mixup"], "out/", workers=4)
report.values("task1", "mixup")   # {"model_0": -0.93, …}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ingestion.corpus import Corpus, Task, common_offers, find_corpus
from ingestion.quiet import import_tensorflow
from ingestion.run.budget import TimeLimit
from ingestion.run.chosen import choose_measures
from ingestion.run.executors.local import LocalExecutor
from ingestion.run.executors.process import WorkerSettings
from ingestion.run.loop import Executor, Listener, Report, run
from ingestion.run.plan import Request
from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError, UnknownNameError


def evaluate(
    corpus: Corpus | Path | str,
    measures: Sequence[str | Measure],
    out: Path | str,
    *,
    options: Mapping[str, Any] | None = None,
    seed: int | None = None,
    tasks: Iterable[str] | None = None,
    models: Iterable[str] | None = None,
    max_models: int | None = None,
    limits: TimeLimit | None = None,
    workers: int | None = None,
    threads: int = 1,
    executor: Executor | None = None,
    retry_failed: bool = False,
    recompute: bool = False,
    warm_up: Sequence[Measure] = (),
    custom: Sequence[str] = (),
    split: str = "train",
    listener: Listener | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Report:
    """Computes what the record in `out` does not have yet; returns all results asked for.

    `measures` are names, `"all"` (those that apply to every task), `"module:function"`, or
    `Measure` objects. `options` and `seed` go to the named measures that have them.
    `tasks`, `models` and `max_models` (per task) restrict what is computed. `limits` are those of
    `pgdl run` by default. `workers` processes with `threads` each work on this machine unless an
    `executor` is given, such as `RayExecutor(WorkerSettings(threads=2), address="auto")`.
    `retry_failed` computes failures again, `recompute` results of other options or other code.
    `warm_up` measures run first in every job to trace the graphs; their results are discarded.
    `custom` are modules that define layers of your own, for models that have such.
    `split` is the part of the data that measures see: `"train"`, or `"test"` to compare the values
    with those on training data. Each needs an `out` of its own.
    `listener` is called with the plan and after every model. `settings` are copied to `run.json`.
    """
    whole = corpus if isinstance(corpus, Corpus) else find_corpus(corpus)
    requested = whole.tasks if tasks is None else tuple(whole.task(name) for name in tasks)
    if not requested:
        raise PgdlError("no task is selected; leave `tasks` out to take all of them")
    executor = executor or LocalExecutor(WorkerSettings(threads), workers)
    request = Request(
        requested,
        _measures(measures, options or {}, seed, requested),
        limits=limits or TimeLimit(),
        seed=seed or 0,
        threads=executor.threads,
        models=None if models is None else _model_ids(models, requested),
        first=max_models,
        retry_failed=retry_failed,
        recompute=recompute,
        warm_up=tuple(warm_up),
        custom=tuple(custom),
        split=split,
    )
    return run(
        request,
        Path(out),
        executor,
        listener or Listener(),
        {"corpus": str(Path(whole.root).resolve()), "settings": dict(settings or {})},
    )


def _measures(
    chosen: Sequence[str | Measure],
    options: Mapping[str, Any],
    seed: int | None,
    tasks: Sequence[Task],
) -> list[Measure]:
    names = [name for name in chosen if isinstance(name, str)]
    ready = [measure for measure in chosen if isinstance(measure, Measure)]
    if not chosen:
        raise PgdlError("no measure is named; `pgdl ls measures` lists them")
    if names and (options or seed is not None or any(":" in name for name in names)):
        import_tensorflow()  # the code of measures needs it
    found = [*choose_measures(names, options, seed, offers=common_offers(tasks)), *ready]
    for name, count in Counter(measure.name for measure in found).items():
        if count > 1:
            raise PgdlError(
                f"two measures are named {name!r}: their results could not be told apart"
            )
    return found


def _model_ids(names: Iterable[str], tasks: Sequence[Task]) -> frozenset[str]:
    """Ids of models that were named with or without `model_`."""
    known = {model for task in tasks for model in task.model_ids}
    return frozenset(_model_id(name, known) for name in names)


def _model_id(name: str, known: Collection[str]) -> str:
    for model in (name, f"model_{name}"):
        if model in known:
            return model
    raise UnknownNameError("model", name, known)
