"""Who does the work: processes of this machine, or a Ray cluster. Both run the same workers."""
