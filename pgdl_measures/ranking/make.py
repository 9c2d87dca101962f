"""Makes a ranking of what was measured of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from pgdl_measures.base import Measure
from pgdl_measures.errors import PgdlError
from pgdl_measures.ranking.concerns import chance_warning, concerns, near_chance
from pgdl_measures.ranking.consensus import Consensus, consensus
from pgdl_measures.ranking.predictions import Prediction, predictions
from pgdl_measures.ranking.result import Candidate, Estimate, Ranking, Row
from pgdl_measures.ranking.truth import Agreement, agreement


def make_ranking(
    candidates: Sequence[Candidate],
    measures: Sequence[Measure],
    *,
    chance: float,
    examples: int,
    by: str = "accuracy",
) -> Ranking:
    """Ranks models on so many training examples, of which guessing gets a share of `chance` right.

    A measure without a value for one of the models is left out: its ranks would be of other models
    than those of the rest. A model of which no measure has a value is left out first.
    """
    ranked, used, left_out = _complete(candidates, measures)
    training = np.array([model.training_accuracy for model in ranked])
    values = {m.name: np.array([model.values[m.name] for model in ranked]).T for m in used}
    predicted = predictions(used, values, training, by)
    agreed = consensus(predicted)
    names = [model.name for model in ranked]
    order = np.argsort(agreed.mean_rank, kind="stable")
    lost = [model for model in ranked if near_chance(model.training_accuracy, chance, examples)]
    cautions = [*concerns(names, training, predicted, by), *_unlike(ranked)]
    if lost:
        accuracies = [model.training_accuracy for model in lost]
        cautions.insert(0, chance_warning([model.name for model in lost], accuracies, chance))
    pick = int(order[0])
    return Ranking(
        by,
        tuple(_row(int(i), ranked, agreed, predicted) for i in order),
        tuple(used),
        tuple(names[i] for i in order[1:] if agreed.is_level(int(i), pick)),
        tuple(cautions),
        left_out,
        _agreements(ranked, predicted, agreed, by),
    )


def _unlike(models: Sequence[Candidate]) -> list[str]:
    """One sentence on the models for which the predictor was not learned; none if there are none"""
    unlike = {m.name: m.expected.unlike for m in models if m.expected and m.expected.unlike}
    if not unlike:
        return []
    many = "; ".join(f"{name} ({', '.join(measures)})" for name, measures in unlike.items())
    return [f"unlike the models that the predictor was learned from, by these measures: {many}"]


def _complete(
    candidates: Sequence[Candidate], measures: Sequence[Measure]
) -> tuple[list[Candidate], list[Measure], dict[str, str]]:
    """Models and measures that have all values of each other, and why the rest has not."""
    left_out, models = {}, []
    for model in candidates:
        if model.values:
            models.append(model)
        else:
            left_out[model.name] = next(iter(model.refusals.values()), "no measure has a value")
    used = []
    for measure in measures:
        missing = [model for model in models if measure.name not in model.values]
        if not missing:
            used.append(measure)
        else:
            one = missing[0]
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            why = one.refusals.get(measure.name, "no value")
            hint = f"rank without {'them' if more else 'it'} to use this measure"
            left_out[measure.name] = f"no value for {one.name}{more}: {why}; {hint}"
    if not models or not used:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise PgdlError(f"nothing can be ranked: {reasons or 'no model is given'}")
    return models, used, left_out


def _row(
    i: int, models: Sequence[Candidate], agreed: Consensus, found: Sequence[Prediction]
) -> Row:
    estimates = {}
    for one in found:
        error = one.standard_error
        estimates[one.measure.name] = Estimate(
            float(one.values[:, i].mean()),
            float(one.shown[:, i].mean()),
            None if error is None else float(error[i]),
            float(rankdata(-one.scores())[i]),
        )
    return Row(
        models[i],
        int(agreed.rank[i]),
        int(agreed.low[i]),
        int(agreed.high[i]),
        float(agreed.mean_rank[i]),
        estimates,
    )


def _agreements(
    models: Sequence[Candidate], found: Sequence[Prediction], agreed: Consensus, by: str
) -> tuple[Agreement, ...]:
    """Of the consensus, of every measure, and of what people do without one."""
    known = [model.test_accuracy for model in models]
    if len(models) < 2 or any(accuracy is None for accuracy in known):
        return ()
    test = np.array(known, float)
    training = np.array([model.training_accuracy for model in models])
    parameters = np.array([model.parameters for model in models], float)
    truth = test if by == "accuracy" else test - training
    return (
        agreement("consensus", -agreed.mean_rank, truth),
        *(agreement(one.measure.name, one.scores(), truth) for one in found),
        *_agreement_of_predictor(models, truth, training if by == "gap" else 0 * training),
        agreement("training accuracy", training, truth),
        agreement("most parameters", parameters, truth),
    )


def _agreement_of_predictor(
    models: Sequence[Candidate], truth: np.ndarray, less: np.ndarray
) -> list[Agreement]:
    """Of the expected accuracies, `less` taken off, if there is one of every model."""
    expected = [model.expected.accuracy for model in models if model.expected]
    if len(expected) < len(models):
        return []
    return [agreement("predictor", np.array(expected) - less, truth)]
