"""Data sets: where their examples come from, and the files that a corpus keeps them in.

sources          what `--data` names: digits, npz:FILE (npz, large_arrays) or tfds:NAME
array_forms      arrays of any usual form, checked, as the arrays of `arrays`
scale            whether a model takes images of bytes as they are or divided by 255
shards, data     the TFRecord shards of a task: written, and read for the measures
"""
