"""`pgdl overfit`: is a model or an architecture overfitted to a test set?

Werpachowski et al. 2019.

models   what is tested: Keras files and folders of a corpus
sets     on which images
control  a model that is overfitted by construction
report   examinations and tests of all models on one set of images
verdict  what a report means
words    the report as text
plots    the report as Figures 8 to 11
"""
