"""Running any submission to the competition: ours, or somebody else's."""
