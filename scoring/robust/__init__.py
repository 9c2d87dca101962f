"""Robust measures of generalization: environments, sign-errors and oracles."""
