"""What the synthetic study finds: p-values, errors and densities for every strength of attack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pgdl_measures.adversarial.independence import Estimate, n_model_test
from pgdl_measures.adversarial.synthetic import Experiment, repeat

# fmt: off
EPSILONS = (
    0.01, 0.03, 0.1, 0.3, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60, 75, 100,
)
# fmt: on
SIZES = (1, 2, 10, 25, 100)  # models that are tested together
VALUE_RANGE = 2.0  # U: nothing better is known of T_i than that it is in [-1, 1]
_RESAMPLED = 400


@dataclass(frozen=True)
class Findings:
    """One experiment; [eps] is the axis of `EPSILONS`."""

    p: Mapping[int, np.ndarray]  # by number of models: [groups of that many runs, eps]
    test_error: np.ndarray  # [runs, eps], as are the next two
    adversarial_error: np.ndarray
    adversarial_risk: np.ndarray
    risk: np.ndarray  # [runs]: the expected error, on independent data
    nearest: np.ndarray  # [runs]: how far the nearest training point is from the boundary
    original_density: np.ndarray  # [runs, eps]: mean over originally misclassified points
    adversarial_density: np.ndarray  # [runs, eps]: mean over successful adversarial examples
    first_run: list[dict[str, Estimate]]  # [eps]: the estimates of one run, with their intervals
    differences: np.ndarray  # [runs, m]: T_i at eps = 6

    def to_json(self) -> dict[str, Any]:
        """All numbers but the differences."""
        content = {k: v for k, v in asdict(self).items() if k != "differences"}
        content["p"] = {str(size): p.tolist() for size, p in self.p.items()}
        arrays = {k: _plain(v) for k, v in content.items() if isinstance(v, np.ndarray)}
        return {"eps": EPSILONS, **content, **arrays}


def find(
    experiment: Experiment, runs: int, seed: int, step: Callable[[], None] = lambda: None
) -> Findings:
    """Runs an experiment and tests it at all strengths."""
    repeated = repeat(experiment, runs, seed, step)
    p: dict[int, list[list[float]]] = {size: [] for size in SIZES if size <= runs}
    means: list[list[np.ndarray]] = []
    first_run, differences = [], np.empty(0)
    for eps in EPSILONS:
        outcome = repeated.test.outcome(eps)
        for size in p:
            groups = range(0, runs - size + 1, size)
            p[size].append([_p(outcome.differences[i : i + size]) for i in groups])
        successful = outcome.adversarial_loss & ~outcome.loss
        means.append(
            [
                outcome.loss.mean(axis=1),
                outcome.adversarial_loss.mean(axis=1),
                outcome.weighted_loss.mean(axis=1),
                _mean_where(outcome.density, outcome.loss),
                _mean_where(outcome.density, successful),
            ]
        )
        first_run.append(outcome.of(0).estimates)
        if eps == 6:
            differences = outcome.differences
    loss, adversarial, weighted, original, successful = np.moveaxis(np.array(means), 0, -1)
    return Findings(
        {size: np.array(values).T for size, values in p.items()},
        loss,
        adversarial,
        weighted,
        repeated.risk,
        repeated.nearest,
        original,
        successful,
        first_run,
        differences,
    )


def beside_the_paper(found: Mapping[str, Findings]) -> list[list[Any]]:
    """Rows: what, the paper's number, ours, its spread if the runs were drawn again."""
    independent, dependent = found["independent"], found["dependent"]
    strong = [i for i, eps in enumerate(EPSILONS) if 10 <= eps <= 50]
    six = EPSILONS.index(6)
    single, runs = dependent.p[1][:, six], len(dependent.p[1])
    rows: list[list[Any]] = [
        [
            "independent: mean p, the least over eps",
            "close to 1",
            _text(independent.p[1].mean(axis=0).min()),
            _interval(independent.p[1], lambda p: p.mean(axis=0).min()),
        ],
        [
            "independent: the lowest 2.5 % of p, the least over eps",
            "about 0.5",
            _text(_low(independent.p[1])),
            _interval(independent.p[1], _low),
        ],
        [
            "dependent: mean p, the largest for 10 <= eps <= 50",
            "about 0",
            _text(dependent.p[1][:, strong].mean(axis=0).max()),
            _interval(dependent.p[1][:, strong], lambda p: p.mean(axis=0).max()),
        ],
        [
            "dependent: expected error R(f)",
            "about 0.5",
            _text(dependent.risk.mean()),
            _interval(dependent.risk, np.mean),
        ],
        [
            "dependent: nearest training point, from the boundary",
            "not given",
            _text(dependent.nearest.mean()),
            _interval(dependent.nearest, np.mean),
        ],
        ["dependent, eps = 6: mean p", "0.5984", _text(single.mean()), _interval(single, np.mean)],
        [
            "dependent, eps = 6: median p",
            "0.6385",
            _text(np.median(single)),
            _interval(single, np.median),
        ],
    ]
    for size, published in ((25, "0.0661, 0.1599, 0.1851, 0.1941"), (100, "0.1153")):
        if size > runs:
            continue
        values = ", ".join(_text(value) for value in np.sort(dependent.p[size][:, six]))
        spread = _interval(dependent.differences, _p, size)
        rows.append([f"dependent, eps = 6: p of {size} models", published, values, spread])
    return rows


def _p(differences: np.ndarray) -> float:
    return n_model_test(differences, VALUE_RANGE).p


def _low(p: np.ndarray) -> float:
    return np.quantile(p, 0.025, axis=0).min()


def _plain(values: np.ndarray) -> list[Any]:
    """As JSON has it, which knows no NaN."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return plain.tolist()


def _mean_where(values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Means of rows over some of their values; NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return np.where(where, values, 0).sum(axis=1) / where.sum(axis=1)


def _interval(
    runs: np.ndarray, statistic: Callable[[np.ndarray], float], size: int | None = None
) -> str:
    rng = np.random.default_rng(0)
    draws = rng.integers(len(runs), size=(_RESAMPLED, size or len(runs)))
    low, high = np.quantile([statistic(runs[draw]) for draw in draws], [0.025, 0.975])
    return f"{_text(low)} to {_text(high)}"


def _text(value: float) -> str:
    return f"{value:.4f}"
