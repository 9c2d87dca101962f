"""How results, progress and errors are printed, and how options are read."""
