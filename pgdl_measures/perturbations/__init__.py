"""Perturbations T_alpha of a network's inputs or hidden representations, as tensor functions."""
