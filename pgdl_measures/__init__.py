"""Measures that predict the generalization gap of a trained classifier.

`complexity("gi_intra_l0")(model, dataset)` is all that a user needs.
"""
