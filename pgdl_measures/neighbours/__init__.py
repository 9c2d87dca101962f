"""Measures of the training data alone: how hard they are to classify by nearest neighbours."""
