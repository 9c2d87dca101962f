"""Trained models in the order of their predicted test accuracies. NumPy and SciPy only, except
`models.py`, which computes the measures."""
