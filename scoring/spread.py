"""Are the models of a zoo comparable? Measures rank models that fit their training data alike.

On a zoo whose training accuracies differ by ten percent every perturbation measure ranks backwards:
the predictions of a model that has not fitted its data also change less under perturbations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LIMIT = 0.02


def spread_warning(train_acc: npt.ArrayLike) -> str | None:
    """A sentence of warning where training accuracies spread by more than two percent."""
    train_acc = np.asarray(train_acc, float)
    low, high = train_acc.min(), train_acc.max()
    if high - low <= LIMIT:
        return None
    return (
        f"training accuracies spread from {low:.3f} to {high:.3f}: measures are compared only "
        "among models that fit their training data alike"
    )
