"""Registry entry of the independence test by adversarial translations."""

from __future__ import annotations

from pgdl_measures.base import IMAGES, Measure

FAMILY = "adversarial"


def entries() -> list[Measure]:
    """One measure."""
    return [
        Measure(
            "adversarial_pvalue",
            "evidence, by adversarial translations, that the model depends on its training data",
            "pgdl_measures.adversarial.measure:adversarial_pvalue",
            needs=(IMAGES,),
            family=FAMILY,
            definition="sign(T) ln(3 / p) with T = mean of L(g(x)) h(g(x)) - L(x), p not capped",
            source="Werpachowski et al. 2019, eq. 5-9",
            cost="high",
            use="To ask whether a network depends on a data set; `pgdl overfit` asks it of a test "
            "set.",
        )
    ]
