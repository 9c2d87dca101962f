"""`pgdl overfit`: is a model or an architecture overfitted to a test set?

Werpachowski et al. 2019.

models   what is tested: Keras files and folders of a corpus
sets     on which images
report   examinations and tests of all models on one set of images
words    the report as text
plots    the report as Figures 8 to 10
figures  histograms of p-values
"""
