"""`pgdl_measures.rank`: Keras models in memory, ranked on their training data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Union

from pgdl_measures.accuracy import accuracy
from pgdl_measures.base import Dataset, Measure, Subject
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.concerns import chance_accuracy
from pgdl_measures.ranking.make import make_ranking
from pgdl_measures.ranking.predictions import check_scale
from pgdl_measures.ranking.recommended import SEEDS, recommended, variants
from pgdl_measures.ranking.result import Candidate, Ranking
from pgdl_measures.registry import complexity
from pgdl_measures.several import measured, with_shared_options

if TYPE_CHECKING:
    import tensorflow as tf

Models = Union[Mapping[str, "tf.keras.Model"], Sequence["tf.keras.Model"]]


def rank(
    models: Models,
    dataset: Dataset,
    measures: Sequence[str] | None = None,
    *,
    by: str = "accuracy",
    seeds: int = SEEDS,
    test: Dataset | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Ranking:
    """Ranks trained classifiers by the test accuracy that is predicted from their training data.

    `models` are Keras models by name, or a list of them with names of their own. `dataset` is their
    training data in any form that `complexity` takes, scaled as the models take it. `measures` are
    names of measures (default: the recommended ones that apply). Each is computed with so many
    `seeds`, which gives its standard error. `by="gap"` ranks by the predicted gap. `test` data is
    used to show the true accuracies beside the predictions. `progress` is called with the name of
    each model before it is measured. A model that cannot be measured is left out, and `left_out`
    says why. `options` go to the measures that have them.

        ranking = pgdl_measures.rank({"small": small, "large": large}, (x_train, y_train))
        print(ranking)
        ranking.pick
    """
    named = _named(models)
    chosen: list[Measure] = []
    candidates = []
    refused: dict[str, str] = {}
    chance, examples = 0.0, 0
    for name, model in named.items():
        if progress is not None:
            progress(name)
        try:
            subject = Subject(model, dataset, max_bytes=options.get("max_bytes"))
            training = accuracy(subject.network, subject.data)
        except PgdlError as error:
            refused[name] = str(error)
            continue
        if not chosen:  # which ones apply depends on the data
            names = measures or recommended(images=len(subject.data.shape) == 3)
            chosen = with_shared_options([complexity(n) for n in names], options)
            check_scale(chosen, by)
        examples = len(subject.data)
        chance = chance_accuracy(subject.data.labels.numpy(), subject.network.outputs)
        candidates.append(_candidate(name, subject, training, chosen, seeds, test))
    if not candidates:
        reasons = "; ".join(f"{why} ({', '.join(names)})" for why, names in _by_reason(refused))
        raise PgdlError(f"no model can be ranked: {reasons}")
    ranking = make_ranking(candidates, chosen, chance=chance, examples=examples, by=by)
    return replace(ranking, left_out={**refused, **ranking.left_out})


def _by_reason(refused: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Each reason once, with the models: what is wrong with the data is so for all of them."""
    models: dict[str, list[str]] = {}
    for name, why in refused.items():
        models.setdefault(why, []).append(name)
    return list(models.items())


def _candidate(
    name: str,
    subject: Subject,
    training: float,
    chosen: Sequence[Measure],
    seeds: int,
    test: Dataset | None,
) -> Candidate:
    requested = variants(chosen, seeds)
    found = measured([one.measure for one in requested], subject)
    values: dict[str, list[float]] = {}
    for one in requested:
        if one.measure.name in found:
            values.setdefault(one.of, []).append(found[one.measure.name])
    refusals = {one.of: why for one in requested if (why := found.refusals.get(one.measure.name))}
    truth = None
    if test is not None:
        unseen = Subject(subject.model, test)
        truth = accuracy(unseen.network, unseen.data)
    complete = {measure: found for measure, found in values.items() if measure not in refusals}
    parameters = subject.model.count_params()
    return Candidate(name, parameters, training, complete, refusals, truth)


def _named(models: Models) -> dict[str, tf.keras.Model]:
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        named = {}
        for model in models:
            name = getattr(model, "name", "model")
            free = (n for i in range(len(models)) if (n := f"{name}_{i}" if i else name))
            named[next(n for n in free if n not in named)] = model
    if not named:
        raise PgdlError("no model is given; expected Keras models by name, or a list of them")
    return named
