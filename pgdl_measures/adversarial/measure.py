"""The registered measure: evidence that a network depends on its training data.

Werpachowski et al. 2019, eq. 5-9.
"""

from __future__ import annotations

import math

from pgdl_measures.adversarial.examination import examine
from pgdl_measures.adversarial.padding import AUTO, choose_padding
from pgdl_measures.base import Subject
from pgdl_measures.data import check_images


def adversarial_pvalue(
    subject: Subject,
    *,
    generator: str = "strongest",
    eps: int = 2,
    padding: str = AUTO,
    seed: int = 0,
) -> float:
    """The evidence against independence of network and training data.

    This is ln(3 / delta), where delta is the uncapped p-value of eq. 8; unlike p itself, it also
    orders networks whose p is 1. It has the sign of T_S: a risk estimate above the training error
    predicts a gap, one below it does not.

    `padding` says where the pixels beyond the border come from. `upsample` (Section 5.3) is refused
    if it raises the network's error; `circular` wraps around; `auto` upsamples if the network
    tolerates that, and wraps around otherwise. To compare networks, give the same padding to all.
    """
    check_images(subject.data.shape)
    network, inputs, labels = subject.network, subject.data.inputs, subject.data.labels
    padding = choose_padding(network, inputs, labels, eps, padding)
    found = examine(
        network, inputs, labels, generators=(generator,), eps=eps, padding=padding, seed=seed
    ).test(generator)
    return math.copysign(found.evidence, found.statistic)
