"""Predictions and reference in, scores out. NumPy and SciPy only: never imports TensorFlow."""
