"""Perturbation response curves, their statistics Gi and Pal, and the measures made of them."""
