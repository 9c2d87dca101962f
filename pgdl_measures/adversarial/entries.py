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
            definition="sign(T) ln(3 / p), T = mean of L(g(x)) h(g(x)) - L(x), L the error, g(x) "
            "an adversarial translation of x, h its density, p the p-value (may exceed 1)",
            source="Werpachowski et al. 2019, eq. 5-9",
            cost="high",
            use="To test whether a network depends on its training set; `pgdl overfit` tests the "
            "same for a test set.",
        )
    ]
