"""ContRE: contrastive examples, the gap and accuracy on them, and the Fisher ratio."""
