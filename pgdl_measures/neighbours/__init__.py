"""What the training data alone say: how hard they are for their nearest neighbours."""
