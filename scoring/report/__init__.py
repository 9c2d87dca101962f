"""Results for readers: records of a run, tables, figures and one self-contained page."""
