"""The 87 combinations of Schiff et al. 2021, Tables 4 to 9, with the signs that the numbers have.

A.8 says that the negative of Pal is used when Pal is combined with Gi. The tables show that the
*second* score of a pair was negated whenever it is a Pal, and that Mixup was taken as it is, an
accuracy: only so do AVG and AVG RANK of two Pals (11.94 and 2.31 on average) and of Gi and Mixup
(17.03 and 1.48) fall so far below their PROD and their PCA (22.08 and 22.26; 23.62), because the
two terms cancel. Measures here are oriented so that larger predicts a larger gap: the paper's Pal
is `-pal_…` and its Mixup is `-mixup`. A principal component has no sign of its own, so that the two
PCA rules combine the oriented measures.
"""

from __future__ import annotations

from scoring.combine import combination_name

PAIRS = (  # in the order of the tables' rows, named as the paper prints them
    ("gi_intra_l0", "gi_intra_l1"),
    ("gi_intra_l0", "gi_inter_l0"),
    ("gi_intra_l0", "gi_inter_l1"),
    ("gi_intra_l0", "pal_intra_l0"),
    ("gi_intra_l0", "pal_intra_l1"),
    ("gi_intra_l0", "pal_inter_l0"),
    ("gi_intra_l0", "mixup"),
    ("gi_intra_l1", "gi_inter_l0"),
    ("gi_intra_l1", "mixup"),
    ("gi_inter_l0", "gi_inter_l1"),
    ("gi_inter_l0", "mixup"),
    ("gi_inter_l1", "mixup"),
    ("pal_intra_l0", "pal_inter_l0"),
    ("pal_intra_l0", "pal_inter_l1"),
)
_GI, _PAL = (
    tuple(f"{score}_{pairing}_l{layer}" for pairing in ("intra", "inter") for layer in (0, 1))
    for score in ("gi", "pal")
)
MEASURES = (*_GI, *_PAL, "mixup")  # that the combinations are made of
WINNER = "dbi_mixup"  # the last row of each table: the winners of the competition
TABLES = {"pca": 4, "npca": 5, "avg": 6, "prod": 7, "prod_avg": 8, "avg_rank": 9}


def paper_combinations(rule: str) -> tuple[tuple[str, ...], ...]:
    """The measures of each row of a rule's table, with their signs."""
    if rule == "pca":
        return ((*_GI, *_PAL), _GI, _PAL, *PAIRS)
    if rule == "npca":
        return PAIRS
    return tuple(map(_signed, PAIRS))


def paper_names(rule: str) -> tuple[str, ...]:
    """The same as names of combinations."""
    return tuple(combination_name(rule, measures) for measures in paper_combinations(rule))


def _signed(pair: tuple[str, str]) -> tuple[str, str]:
    first, second = pair
    if first.startswith("pal"):
        first = f"-{first}"
    return first, "-mixup" if second == "mixup" else second
