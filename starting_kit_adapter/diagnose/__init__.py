"""Questions about your own models and zoos: check, rank, overfit, invariance, cost."""
