"""Measures of the PGDL competition, to compare with: the starting kit's baselines, and the
measures of the first three teams.

`baselines` and `sharpness` are the kit's; `dbi` and `perturbed_margin` come from the first team
(Natekar and Sharma 2020, github.com/parthnatekar/pgdl), `augmentation` from the second (Aithal et
al. 2021, github.com/sumukhaithal6/pgdl) and `label_variation` from the third (Lassance et al. 2020,
github.com/cadurosar/pgdl). All are written anew from those descriptions; each file says what it
read and where it differs. The competition's score does not depend on a measure's sign; here larger
predicts a larger gap.
"""
