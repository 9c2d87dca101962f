"""Registry entries of the 24 measures of Dziugaite et al. 2020, Appendix C.6.

W_i is the kernel of layer i of d, batch norm fused, W_i^0 its initial value, w all kernels as one
vector of omega weights; |W|_F is the Frobenius and |W|_2 the spectral norm; g is the 10th
percentile of the output margins and m the number of training examples.
"""

from __future__ import annotations

from pgdl_measures.base import INITIAL, Measure

FAMILY = "norms"

_MARGIN = "Like the measure without the margin, for networks whose outputs differ in scale."
_SPECTRAL = "For comparison with published bounds; grows with depth."
_DISTANCE = "If the networks started from comparable initial weights."
_BOUND = "For comparison with PAC-Bayes bounds; needs a search for sigma."
_MAGNITUDE = "If weights differ so much in size that one sigma does not suit all."
_SPREAD = "Differences of some 5 % are chance, unless `examples` and `draws` are raised."

# module -> name, summary, definition, equation, needs, cost, use
_NORMS: dict[str, tuple[tuple[str, str, str, int, tuple[str, ...], str, str], ...]] = {
    "output": (
        (
            *("params", "number of weights, per training example"),
            *("sqrt(sum_i k_i^2 c_(i-1) (c_i + 1) / m)", 10, (), "weights"),
            "The baseline that any measure should beat.",
        ),
        (
            *("inverse_margin", "inverse of the output margin"),
            *("sqrt(1 / (g^2 m))", 11, (), "low"),
            "The cheapest measure that uses the data.",
        ),
    ),
    "spectral_measures": (
        (
            *("log_spec_init_main", "margin bound: spectral norms, distance from init"),
            "log sqrt(prod_i |W_i|_2^2 sum_j (|W_j - W_j^0|_F^2 / |W_j|_2^2) / (g^2 m))",
            *(12, (INITIAL,), "low", _SPECTRAL),
        ),
        (
            *("log_spec_orig_main", "margin bound: spectral norms, distance from zero"),
            "log sqrt(prod_i |W_i|_2^2 sum_j (|W_j|_F^2 / |W_j|_2^2) / (g^2 m))",
            *(13, (), "low", _SPECTRAL),
        ),
        (
            *("log_prod_of_spec_over_margin", "product of spectral norms over the margin"),
            *("log sqrt(prod_i |W_i|_2^2 / (g^2 m))", 14, (), "low", _MARGIN),
        ),
        (
            *("log_prod_of_spec", "product of spectral norms"),
            *("log sqrt(prod_i |W_i|_2^2 / m)", 15, (), "weights", _SPECTRAL),
        ),
        (
            *("fro_over_spec", "Frobenius over spectral norms"),
            *("sqrt(sum_i (|W_i|_F^2 / |W_i|_2^2) / m)", 16, (), "weights"),
            "The stable ranks of the layers; independent of the scale of the weights.",
        ),
        (
            *("log_sum_of_spec_over_margin", "sum of spectral norms over the margin"),
            *("log sqrt(d (prod_i |W_i|_2^2 / g^2)^(1/d) / m)", 17, (), "low", _MARGIN),
        ),
        (
            *("log_sum_of_spec", "sum of spectral norms"),
            *("log sqrt(d (prod_i |W_i|_2^2)^(1/d) / m)", 18, (), "weights"),
            "Like log_prod_of_spec, for networks of different depths.",
        ),
    ),
    "frobenius": (
        (
            *("log_prod_of_fro_over_margin", "product of Frobenius norms over the margin"),
            *("log sqrt(prod_i |W_i|_F^2 / (g^2 m))", 19, (), "low", _MARGIN),
        ),
        (
            *("log_prod_of_fro", "product of Frobenius norms"),
            *("log sqrt(prod_i |W_i|_F^2 / m)", 20, (), "weights", _SPECTRAL),
        ),
        (
            *("log_sum_of_fro_over_margin", "sum of Frobenius norms over the margin"),
            *("log sqrt(d (prod_i |W_i|_F^2 / g^2)^(1/d) / m)", 21, (), "low", _MARGIN),
        ),
        (
            *("log_sum_of_fro", "sum of Frobenius norms"),
            *("log sqrt(d (prod_i |W_i|_F^2)^(1/d) / m)", 22, (), "weights"),
            "Like log_prod_of_fro, for networks of different depths.",
        ),
        (
            *("fro_dist", "Frobenius distance from initialization"),
            *("sqrt(sum_i |W_i - W_i^0|_F^2 / m)", 23, (INITIAL,), "weights", _DISTANCE),
        ),
        (
            *("dist_spec_init", "spectral distance from initialization"),
            *("sqrt(sum_i |W_i - W_i^0|_2^2 / m)", 24, (INITIAL,), "weights", _DISTANCE),
        ),
        (
            *("param_norm", "norm of all kernels"),
            *("sqrt(sum_i |W_i|_F^2 / m)", 25, (), "weights"),
            "A baseline for the products and distances.",
        ),
    ),
    "path": (
        (
            *("path_norm_over_margin", "path norm over the margin"),
            *("sqrt(sum_k f_(w^2)(1)[k] / (g^2 m))", 26, (), "low", _MARGIN),
        ),
        (
            *("path_norm", "path norm"),
            *("sqrt(sum_k f_(w^2)(1)[k] / m), f_(w^2) the net of squared weights", 27, ()),
            *("weights", "Unchanged if one layer is scaled up and the next one down."),
        ),
    ),
    "flatness": (
        (
            *("pacbayes_init", "PAC-Bayes bound around the initial weights"),
            "sqrt((|w - w^0|^2 / (4 sigma^2) + log(m / sigma) + 10) / m)",
            *(28, (INITIAL,), "medium", _BOUND),
        ),
        (
            *("pacbayes_orig", "PAC-Bayes bound around zero"),
            "sqrt((|w|^2 / (4 sigma^2) + log(m / sigma) + 10) / m)",
            *(29, (), "medium", _BOUND),
        ),
        (
            *("pacbayes_flatness", "inverse of the weight perturbation that the network tolerates"),
            "sqrt(1 / (sigma^2 m)), sigma the largest with at most 0.1 more errors",
            *(30, (), "medium", f"Flatness alone, without a norm of the weights. {_SPREAD}"),
        ),
        (
            *("pacbayes_mag_init", "magnitude-aware bound around the initial weights"),
            "sqrt((sum_i log((e^2 + (s^2 + 1) |w - w^0|^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) "
            "/ 4 + log(m / s) + 10) / m), s = sigma', e = 0.001",
            *(31, (INITIAL,), "medium", _MAGNITUDE),
        ),
        (
            *("pacbayes_mag_orig", "magnitude-aware bound around zero"),
            "sqrt((sum_i log((e^2 + (s^2 + 1) |w|^2 / omega) / (e^2 + s^2 |w_i - w_i^0|^2)) / 4 + "
            "log(m / s) + 10) / m), s = sigma', e = 0.001",
            *(32, (INITIAL,), "medium", _MAGNITUDE),
        ),
        (
            *("pacbayes_mag_flatness", "inverse of the tolerated relative weight perturbation"),
            *("sqrt(1 / (sigma'^2 m))", 33, (), "medium"),
            f"The most robust of the 24 in Dziugaite et al. 2020, in most environments. {_SPREAD}",
        ),
    ),
}


def entries() -> list[Measure]:
    """All 24, in the order of the paper."""
    return [
        Measure(
            name,
            summary,
            f"pgdl_measures.norms.{module}:{name}",
            needs=needs,
            family=FAMILY,
            definition=definition,
            source=f"Dziugaite et al. 2020, eq. {equation}",
            cost=cost,
            use=use,
        )
        for module, rows in _NORMS.items()
        for name, summary, definition, equation, needs, cost, use in rows
    ]
