"""How well `pgdl rank` chooses: on each task, and among six of its networks drawn at random.

    python benchmarks/rank/judged.py

Reads `benchmarks/results/mini` and what `pgdl rank --format json` wrote to
`benchmarks/results/rank`, and prints the tables of docs/rank.md. The networks of the tasks in `NEW`
were trained after the rules and the draws below had been written down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, rankdata

from pgdl_measures.ranking.consensus import Consensus, consensus
from pgdl_measures.ranking.predictions import SLOPES, Prediction, predictions
from pgdl_measures.ranking.recommended import RECOMMENDED
from pgdl_measures.registry import complexity
from scoring.kit.reference import find_references, read_reference
from scoring.learning import read_known_tasks
from scoring.report.published_runs import REFERENCE

RESULTS = Path(__file__).resolve().parents[1] / "results"
NEW = ("new_digits", "new_fashion14", "new_cifar5", "new_pets10")
SIX, SETS = 6, 100  # networks of a set, and sets of a task
MEASURES = [complexity(name) for name in RECOMMENDED]


@dataclass(frozen=True, eq=False)
class Task:
    """Networks whose test accuracies are known: arrays [networks]."""

    training: np.ndarray
    test: np.ndarray
    values: Mapping[str, np.ndarray]  # by measure

    def sets(self) -> Iterator[Task]:
        """Sets of six of its networks, the same ones every time."""
        rng = np.random.default_rng(0)
        for _ in range(SETS):
            some = rng.choice(len(self.test), SIX, replace=False)
            values = {name: value[some] for name, value in self.values.items()}
            yield Task(self.training[some], self.test[some], values)

    def found(self) -> list[Prediction]:
        """What the recommended measures predict."""
        values = {m.name: self.values[m.name][None] for m in MEASURES}
        return predictions(MEASURES, values, self.training, "accuracy")

    def accuracies(self) -> np.ndarray:
        """The predicted test accuracies [measures, networks], up to a constant of each measure."""
        return np.array([one.scores() for one in self.found()])

    def regret(self, scores: np.ndarray) -> float:
        """The points by which the best is better than those with the largest score."""
        first = scores >= scores.max() - 1e-12
        return 100 * float(self.test.max() - self.test[first].mean())

    @property
    def regret_of_guess(self) -> float:
        """The mean regret of a network chosen at random."""
        return 100 * float(self.test.max() - self.test.mean())


def read_tasks() -> dict[str, Task]:
    """The tasks by name."""
    tasks = {}
    mini = RESULTS / "mini"
    references = find_references(mini / REFERENCE)
    for known in read_known_tasks(mini, mini / REFERENCE, RECOMMENDED)[0]:
        training = read_reference(references[known.name], known.name).train_acc
        tasks[known.name] = Task(training, training - known.gap, known.values)
    for name in ("fashion", "cifar10", *NEW):
        models = json.loads((RESULTS / "rank" / f"{name}.json").read_text())["models"]
        values = {
            m.name: np.array([model["measures"][m.name]["value"] for model in models])
            for m in MEASURES
        }
        training, test = (np.array([m[key] for m in models]) for key in ("train_acc", "test_acc"))
        tasks[name] = Task(training, test, values)
    return tasks


def standardized(task: Task) -> np.ndarray:
    """The accuracies, every measure's with mean 0 and standard deviation 1, or all 0."""
    accuracies = task.accuracies()
    deviation = accuracies.std(axis=1, keepdims=True)
    deviation[deviation == 0] = 1
    return (accuracies - accuracies.mean(axis=1, keepdims=True)) / deviation


def merged(task: Task) -> np.ndarray:
    """The accuracies, with the mean of mixup and manifold_mixup in place of both."""
    accuracies = task.accuracies()
    return np.concatenate([accuracies[:2].mean(axis=0, keepdims=True), accuracies[2:]])


def sloped(task: Task, slope: float) -> np.ndarray:
    """The accuracies with another slope of the gaps than 1."""
    return task.training - slope * (task.training - task.accuracies())


Rule = Callable[[Task], np.ndarray]  # the networks' scores
RULES: dict[str, Rule] = {
    "mean rank (pgdl rank)": lambda t: rankdata(t.accuracies(), axis=1).mean(axis=0),
    "mean rank, the two mixups as one": lambda t: rankdata(merged(t), axis=1).mean(axis=0),
    "mean rank, slope 0.71": lambda t: rankdata(sloped(t, SLOPES[0]), axis=1).mean(axis=0),
    "mean rank, slope 1.41": lambda t: rankdata(sloped(t, SLOPES[1]), axis=1).mean(axis=0),
    "median rank": lambda t: np.median(rankdata(t.accuracies(), axis=1), axis=0),
    "mean accuracy": lambda t: t.accuracies().mean(axis=0),
    "mean accuracy, the two mixups as one": lambda t: merged(t).mean(axis=0),
    "mean standardized accuracy": lambda t: standardized(t).mean(axis=0),
    "the same less its standard deviation": lambda t: (
        standardized(t).mean(axis=0) - standardized(t).std(axis=0)
    ),
    **{m.name: (lambda t, number=i: t.accuracies()[number]) for i, m in enumerate(MEASURES)},
    "training accuracy": lambda t: t.training,
}


def resampled_measures(found: Sequence[Prediction]) -> Consensus:
    """The consensus; its draws are means over resampled measures, one fewer than there are."""
    rng = np.random.default_rng(0)
    own = consensus(found)
    of_one = own.drawn.reshape(len(found), -1, own.drawn.shape[1])  # [measures, draws, models]
    shape = (len(found) - 1, of_one.shape[1])
    measures, draws = (rng.integers(0, count, shape) for count in of_one.shape[:2])
    drawn = of_one[measures, draws].mean(axis=0).round(9)
    ranks = rankdata(drawn, method="min", axis=1)
    low, high = np.percentile(ranks, [5, 95], axis=0, method="nearest")
    return Consensus(own.mean_rank, own.rank, low, high, drawn)


Draws = Callable[[Sequence[Prediction]], Consensus]
DRAWS: dict[str, Draws] = {"one measure": consensus, "a mean over four": resampled_measures}


def numbers_of(task: Task) -> list[float]:
    """Over all networks: tau, and the regrets of the pick, of training accuracy and of a guess."""
    scores = -consensus(task.found()).mean_rank
    tau = float(kendalltau(scores, task.test).statistic)
    return [tau, task.regret(scores), task.regret(task.training), task.regret_of_guess]


def task_rows(tasks: Mapping[str, Task]) -> Iterator[str]:
    """A row per task, and the mean."""
    rows = []
    for name, task in tasks.items():
        low, high = 100 * task.test.min(), 100 * task.test.max()
        rows.append(numbers_of(task))
        yield _row(name, len(task.test), f"{low:.1f} to {high:.1f}", rows[-1])
    yield _row("mean", "", "", np.mean(rows, axis=0))


def _row(name: str, networks: object, test: str, numbers: Iterable[float]) -> str:
    return f"| {name} | {networks} | {test} | {' | '.join(f'{n:.2f}' for n in numbers)} |"


def rule_row(rule: Rule, tasks: Sequence[Task]) -> str:
    """Means over tasks: tau over all networks; in sets of six, regret as a share of a guess's."""
    taus, shares = [], []
    for task in tasks:
        taus.append(kendalltau(rule(task), task.test).statistic)
        sets = [(some.regret(rule(some)), some.regret_of_guess) for some in task.sets()]
        lost, guessed = np.sum(sets, axis=0)
        shares.append(lost / guessed)
    return f"{np.mean(taus):.2f} | {np.mean(shares):.2f}"


def draws_row(how: Draws, tasks: Sequence[Task]) -> str:
    """Means over sets of six."""
    numbers, alone = [], []
    for some in (some for task in tasks for some in task.sets()):
        agreed = how(some.found())
        true = rankdata(-some.test, method="min")
        pick = int(agreed.mean_rank.argmin())
        level = [i for i in range(SIX) if i == pick or agreed.is_level(i, pick)]
        covered = ((agreed.low <= true) & (true <= agreed.high)).mean()
        numbers.append((covered, true[level].min() == 1, len(level), len(level) == 1))
        if len(level) == 1:
            alone.append(true[pick] == 1)
    covered, best, size, said = np.mean(numbers, axis=0)
    right = f"{100 * np.mean(alone):.0f}" if alone else ""
    return f"{100 * covered:.0f} | {100 * best:.0f} | {size:.1f} | {100 * said:.0f} | {right}"


def _group(name: str) -> str:
    return "new" if name in NEW else "mini" if name.startswith("mini") else ""


def main() -> None:
    """Prints the tables."""
    tasks = read_tasks()
    print("| task | networks | test acc, % | tau | regret | by training accuracy | at random |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for group in ("mini", "", "new"):
        print(*task_rows({n: t for n, t in tasks.items() if _group(n) == group}), sep="\n")
    ten = [task for name, task in tasks.items() if name not in NEW]
    new = [tasks[name] for name in NEW]
    heads = ("covered, %", "best among them, %", "of six", "alone, %", "then best, %")
    print(f"\n| a draw is | tasks | {' | '.join(heads)} |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, how in DRAWS.items():
        print(f"| {name} | ten | {draws_row(how, ten)} |")
        print(f"| {name} | new | {draws_row(how, new)} |")
    print("\n| chosen by | tau, ten | regret, ten | tau, new | regret, new |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, rule in RULES.items():
        print(f"| {name} | {rule_row(rule, ten)} | {rule_row(rule, new)} |")


if __name__ == "__main__":
    main()
