"""A competition of one's own on Codabench, around a corpus of trained models."""
