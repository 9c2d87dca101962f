"""The papers' studies, repeated on a corpus: one package for each `pgdl study NAME`."""
