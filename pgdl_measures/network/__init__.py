"""Any Keras classifier as a chain of blocks that can be entered, cut and measured."""
