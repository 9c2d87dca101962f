"""Measures of the PGDL competition, to compare with: the starting kit's baselines and the podium.

`baselines` and `sharpness` are the kit's; `dbi` and `perturbed_margin` come from the first place
(Natekar & Sharma 2020, arXiv:2012.02775, github.com/parthnatekar/pgdl), `augmentation` from the
second (Aithal, Kashyap & Subramanyam 2021, arXiv:2101.06459, github.com/sumukhaithal6/pgdl) and
`label_variation` from the third (Lassance et al. 2020, arXiv:2011.12737,
github.com/cadurosar/pgdl). All are written anew from those descriptions; each file says what it
read and where it differs. The competition's score does not depend on a measure's sign; here larger
predicts a larger gap.
"""
