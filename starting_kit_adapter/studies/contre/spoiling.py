"""Do the transformations spoil the data?

Wu et al. 2021, Section 5: they do not if the accuracies of models on transformed training images
and on transformed test images are correlated (0.983, 0.903 and 0.989 there).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.errors import if_defined
from scoring.rank import spearman


@dataclass(frozen=True)
class Spoiling:
    """Accuracies of the same models on contrastive examples of training set and test set."""

    train: Mapping[str, float]  # by model
    test: Mapping[str, float]

    @property
    def correlation(self) -> float | None:
        """Spearman's, over the models; None where it is undefined."""
        vectors = (np.array([part[m] for m in self.train]) for part in (self.train, self.test))
        return if_defined(spearman, *vectors)

    def to_text(self) -> str:
        """In a sentence."""
        found = self.correlation
        value = "undefined" if found is None else f"{found:.3f}"
        return (
            f"Accuracies on transformed training and on transformed test images: Spearman "
            f"correlation {value} over {len(self.test)} models (Wu et al. 2021: 0.983 on CIFAR-10, "
            "0.903 on CIFAR-100, 0.989 on ImageNet)."
        )
