"""VC and output measures (Dziugaite et al. 2020, C.6.1 and C.6.2)."""

from __future__ import annotations

import math

from pgdl_measures.base import Subject
from pgdl_measures.norms.fused import fused_network
from pgdl_measures.norms.margin import margin


def params(subject: Subject, *, counting: str = "printed") -> float:
    """C_params = sqrt(sum_i k_i^2 c_{i-1} (c_i + 1) / m) (eq. 10).

    k_i^2 is the kernel's area, 1 for a dense layer. This form, as in Jiang et al. 2020a, adds
    one weight per tap and input channel, while a layer has one bias per filter,
    (k_i^2 c_{i-1} + 1) c_i; the measure `parameter_count` is the true number of weights. A batch
    norm that cannot be fused counts its scales and shifts. The authors' code counts kernels only:
    `counting="kernels"`.
    """
    if counting == "kernels":
        sizes = [kernel.size for kernel in fused_network(subject).kernels]
        return math.sqrt(sum(sizes) / subject.data.total)
    total = 0
    fused = fused_network(subject)
    for kernel, geometry in zip(fused.kernels, fused.geometries):
        # k^2 c_{i-1}; a vector of scales comes with the same number of shifts
        total += kernel.size + (geometry.inputs(kernel) if kernel.ndim > 1 else kernel.size)
    return math.sqrt(total / subject.data.total)


def inverse_margin(
    subject: Subject, *, form: str = "inverse", examples: int = 5_000, seed: int = 0
) -> float:
    """C_inverse.margin = sqrt(1 / (gamma^2 m)).

    Eq. 11 prints sqrt(gamma^2 / m), which grows with the margin and contradicts its name; Jiang et
    al. 2020a and the authors' code have the inverse. `form="printed"` computes the printed one.
    """
    squared = margin(subject, examples, seed) ** 2
    return math.sqrt((squared if form == "printed" else 1 / squared) / subject.data.total)
