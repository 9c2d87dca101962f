"""Results of the synthetic study: p-values, errors and densities for every strength of attack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from pgdl_measures.adversarial.gradient import Projection
from pgdl_measures.adversarial.independence import Estimate, n_model_test
from pgdl_measures.adversarial.synthetic import Experiment, repeat

# fmt: off
EPSILONS = (
    0.01, 0.03, 0.1, 0.3, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60, 75, 100,
)
# fmt: on
SIZES = (1, 2, 10, 25, 100)  # models that are tested together
VALUE_RANGE = 2.0  # U: nothing better is known of T_i than that it is in [-1, 1]
MATCHING = np.arange(4.0, 9.0, 0.05)  # eps among which that of the paper's mean p is looked for
PAPER_RUNS = 100
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
    matching: tuple[float, np.ndarray]  # the eps at which the mean p is the paper's, and T_i there

    def to_json(self) -> dict[str, Any]:
        """All numbers but the differences."""
        content = {k: v for k, v in asdict(self).items() if k not in ("differences", "matching")}
        content["matching_eps"] = self.matching[0]
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
        _match(repeated.test),
    )


def beside_the_paper(found: Mapping[str, Findings]) -> list[list[Any]]:
    """Rows: what, the paper's number, ours, and the 95 % interval of the difference between our
    number and the paper's, where both are of runs drawn at random: ours of as many as there are,
    the paper's of 100."""
    independent, dependent = found["independent"].p[1], found["dependent"]
    ten = [EPSILONS.index(10)]  # the strength at which Figure 6 shows this experiment
    strong = [i for i, eps in enumerate(EPSILONS) if 10 <= eps <= 50]
    single = dependent.p[1]
    rows: list[list[Any]] = [
        compared("independent: mean p, the least over eps", "close to 1", independent, _least_mean),
        compared(
            "independent: lowest 2.5 % of p, the least over eps", "about 0.5", independent, _low
        ),
        compared(
            "independent: lowest 2.5 % of p, eps = 10", "about 0.5", independent[:, ten], _low
        ),
        compared(
            "dependent: mean p, the largest for 10 <= eps <= 50",
            "about 0",
            single[:, strong],
            lambda p: p.mean(axis=0).max(),
        ),
        compared("dependent: expected error R(f)", "about 0.5", dependent.risk, np.mean),
        compared("dependent: nearest training point", "not given", dependent.nearest, np.mean),
    ]
    eps, matched = dependent.matching
    rows += _of_differences("dependent, eps = 6", dependent.differences)
    return rows + _of_differences(f"dependent, eps = {eps:.2f} (same mean)", matched)


def _of_differences(what: str, differences: np.ndarray) -> list[list[Any]]:
    """What the paper reports of T_i [runs, m] at eps = 6, for tests of 1, 25 and 100 models."""
    rows = [
        compared(f"{what}: mean p", "0.5984", differences, _mean_p),
        compared(f"{what}: median p", "0.6385", differences, lambda t: np.median(_single_p(t))),
    ]
    for size, paper, mean in ((25, "0.1513 (mean of 4)", 0.1513), (100, "0.1153", 0.1153)):
        if size <= len(differences):
            statistic = partial(_mean_group_p, size=size)
            rows.append(
                compared(f"{what}: p of {size} models", paper, differences, statistic, mean)
            )
    return rows


def compared(
    what: str,
    paper: str,
    runs: np.ndarray,
    statistic: Callable[[np.ndarray], float],
    published: float | None = None,
) -> list[Any]:
    """Our number beside the paper's. The interval is a basic bootstrap of the difference; where the
    paper gives no number, of ours."""
    if published is None and paper.startswith("0."):
        published = float(paper)
    here = statistic(runs)
    rng = np.random.default_rng(0)
    ours = [statistic(runs[rng.integers(len(runs), size=len(runs))]) for _ in range(_RESAMPLED)]
    if published is None:
        low, high = np.quantile(ours, [0.025, 0.975])
        return [what, paper, _text(here), "-", f"{_text(low)} to {_text(high)}"]
    theirs = [statistic(runs[rng.integers(len(runs), size=PAPER_RUNS)]) for _ in range(_RESAMPLED)]
    low, high = here - published - np.quantile(np.subtract(ours, theirs), [0.975, 0.025])
    return [what, paper, _text(here), f"{here - published:+.4f}", f"{low:+.4f} to {high:+.4f}"]


def _match(test: Projection) -> tuple[float, np.ndarray]:
    """The eps at which the mean p of one model is nearest to the paper's 0.5984, and T_i there."""
    means = [_mean_p(test.outcome(eps).differences) for eps in MATCHING]
    eps = float(MATCHING[np.argmin(np.abs(np.array(means) - 0.5984))])
    return eps, test.outcome(eps).differences


def _single_p(differences: np.ndarray) -> np.ndarray:
    return np.array([_p(run[None]) for run in differences])


def _mean_p(differences: np.ndarray) -> float:
    return float(_single_p(differences).mean())


def _mean_group_p(differences: np.ndarray, size: int) -> float:
    groups = range(0, len(differences) - size + 1, size)
    return float(np.mean([_p(differences[i : i + size]) for i in groups]))


def _least_mean(p: np.ndarray) -> float:
    return p.mean(axis=0).min()


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


def _text(value: float) -> str:
    return f"{value:.4f}"
