"""Studies of the papers on a corpus of one's own: one package each, a sub-verb of `pgdl study`."""
