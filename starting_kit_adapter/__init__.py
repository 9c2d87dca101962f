"""The outside world: the `pgdl` command, the kit's programs, bundles, diagnoses and studies."""
