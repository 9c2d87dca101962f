"""Running measures over a corpus of trained models: its layout, its models, its data."""
