"""A competition on Codabench around a corpus of trained models."""
