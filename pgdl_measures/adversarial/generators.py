"""Adversarial example generators over translations, and their densities.

Werpachowski et al. 2019, Section 5.1. g leaves a misclassified image where it is and moves any
other by at most eps: *strongest* to the misclassified neighbour with the largest l_exc, *nearest*
to the closest misclassified one, *random* to a neighbour drawn from all, *random2* to one drawn
from all and the image itself. The density of a misclassified image x is h(x) = 1 / (1 + n(x)),
where n(x) is the number of neighbours that g moves to x (eq. 9), or its expectation (eq. 10).

Only the windows that decide g and n are evaluated, in three rounds: the neighbours of correctly
classified images; the neighbours of images that are, or become, misclassified; and, for each
neighbour that g might move to such an image, the windows to which g might move it instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pgdl_measures.adversarial.independence import Outcome
from pgdl_measures.adversarial.translations import neighbourhood
from pgdl_measures.adversarial.windows import Windows
from pgdl_measures.errors import UnknownNameError

_CHUNK = 1 << 22  # numbers in one array of neighbours of neighbours


class Generator(ABC):
    """An adversarial example generator g; `outcome` runs it and finds its densities."""

    value_range: float  # U: the length of the interval in which all T_i lie

    @abstractmethod
    def moves(self, windows: Windows, examples: np.ndarray, seed: int) -> np.ndarray:
        """The shift [n, 2] that g chooses for correctly classified examples [n]."""

    @abstractmethod
    def arrivals(self, windows: Windows, examples: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """n(x) [n] of the misclassified tau_shift(x_example)."""

    def outcome(self, windows: Windows, seed: int = 0) -> Outcome:
        """What g does to every example."""
        everyone = np.arange(len(windows))
        shifts = np.zeros((len(windows), 2), int)
        windows.request(everyone, shifts)
        windows.evaluate()
        loss = windows.scores(everyone, shifts) >= 0
        correct = np.flatnonzero(~loss)
        shifts[correct] = self.moves(windows, correct, seed)
        adversarial_loss = windows.scores(everyone, shifts) >= 0
        density = np.ones(len(windows))
        wrong = np.flatnonzero(adversarial_loss)
        density[wrong] = 1 / (1 + self.arrivals(windows, wrong, shifts[wrong]))
        return Outcome(loss, adversarial_loss, density)


class Directed(Generator):
    """g moves to the misclassified neighbour that it prefers, if any; ties go to the first."""

    value_range = 1.5  # h <= 1/2 where g succeeded, so T_i lies in [-1, 1/2]

    @abstractmethod
    def preference(self, scores: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        """How much g prefers each neighbour, given scores [..., K] of shifts [K, 2]: at least 0 if
        it is misclassified, negative if not, NaN or negative if its score is unknown."""

    def moves(self, windows: Windows, examples: np.ndarray, seed: int) -> np.ndarray:
        near = neighbourhood(windows.eps)
        around = np.broadcast_to(near, (len(examples), *near.shape))
        windows.request(examples, around)
        windows.evaluate()
        preference = self.preference(windows.scores(examples, around), near)
        best = near[preference.argmax(axis=1)]
        return np.where(preference.max(axis=1, keepdims=True) >= 0, best, 0)

    def arrivals(self, windows: Windows, examples: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        near = neighbourhood(windows.eps)
        windows.request(examples, shifts[:, None] + near)
        windows.evaluate()
        size = max(1, _CHUNK // len(near) ** 2)
        chunks = [slice(i, i + size) for i in range(0, len(examples), size)]
        for chunk in chunks:
            self._request_rivals(windows, examples[chunk], shifts[chunk])
        windows.evaluate()
        counts = [
            self._sends(windows, examples[chunk], shifts[chunk])[0].sum(axis=1) for chunk in chunks
        ]
        return np.concatenate([np.zeros(0, int), *counts])

    def _request_rivals(self, windows: Windows, examples: np.ndarray, shifts: np.ndarray) -> None:
        """Requests the windows that g might prefer to this one."""
        near = neighbourhood(windows.eps)
        sends, own = self._sends(windows, examples, shifts)
        at_most = self.preference(np.full(len(near), np.inf), near)
        rival = _beats(at_most, own)
        further = shifts[:, None, None] + near[:, None] + near
        windows.request(examples, further, sends[:, :, None] & rival)

    def _sends(
        self, windows: Windows, examples: np.ndarray, shifts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Whether g moves each neighbour here, as far as is known, and how much it prefers that
        move (both [n, K])."""
        near = neighbourhood(windows.eps)
        neighbours = shifts[:, None] + near
        scores = windows.scores(examples, neighbours[:, :, None] + near)  # [n, K, K]
        preference = self.preference(scores, near)
        k = np.arange(len(near))
        own = preference[:, k, k[::-1]]  # seen from neighbour k, this window is at -near[k]
        correct = windows.scores(examples, neighbours) < 0
        return correct & ~_beats(preference, own).any(axis=2), own


def _beats(preference: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Which windows [.., K] each neighbour [n, K] prefers to this one."""
    k = np.arange(own.shape[1])
    earlier = k < k[::-1, None]
    own = own[:, :, None]
    return (preference > own) | ((preference == own) & earlier)


@dataclass(frozen=True)
class Strongest(Directed):
    """The misclassified neighbour with the largest l_exc."""

    def preference(self, scores: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        return scores


@dataclass(frozen=True)
class Nearest(Directed):
    """The misclassified neighbour with the shortest translation."""

    def preference(self, scores: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
        length = (neighbours**2).sum(axis=1)
        return np.where(scores >= 0, length.max() - length, -1)


@dataclass(frozen=True)
class Random(Generator):
    """A neighbour drawn from all, misclassified or not."""

    stays: bool  # whether the image itself can be drawn too (random2)
    value_range = 2.0

    def moves(self, windows: Windows, examples: np.ndarray, seed: int) -> np.ndarray:
        candidates = self._candidates(windows)
        # One draw per example, moved or not, from a stream that no sampling of data uses.
        rng = np.random.default_rng((seed, 1))
        draws = rng.integers(len(candidates), size=len(windows))
        shifts = candidates[draws[examples]]
        windows.request(examples, shifts)
        windows.evaluate()
        return shifts

    def arrivals(self, windows: Windows, examples: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        neighbours = shifts[:, None] + neighbourhood(windows.eps)
        windows.request(examples, neighbours)
        windows.evaluate()
        correct = windows.scores(examples, neighbours) < 0
        return correct.sum(axis=1) / len(self._candidates(windows))

    def _candidates(self, windows: Windows) -> np.ndarray:
        near = neighbourhood(windows.eps)
        return near if self.stays else near[near.any(axis=1)]


GENERATORS: dict[str, Generator] = {
    "strongest": Strongest(),
    "nearest": Nearest(),
    "random": Random(stays=False),
    "random2": Random(stays=True),
}


def generator(name: str) -> Generator:
    """The generator of that name."""
    if name not in GENERATORS:
        raise UnknownNameError("generator", name, GENERATORS)
    return GENERATORS[name]
