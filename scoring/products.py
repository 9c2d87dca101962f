"""Matrix products in blocks that BLAS computes on one core.

OpenBLAS gives larger products to threads. For the sizes of a task that gains little, and on a busy
machine the threads wait for each other and are tens of times slower.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_ONE_CORE = 1 << 18  # multiplications of a product that stays on one core


def one_core_product(
    left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """left @ right, in blocks of columns."""
    rows, inner = left.shape
    columns = max(8, _ONE_CORE // max(1, rows * inner) // 8 * 8)
    found = np.empty((rows, right.shape[1]), np.float32)
    for start in range(0, right.shape[1], columns):
        block = slice(start, start + columns)
        np.matmul(left, right[:, block], out=found[:, block])
    return found
