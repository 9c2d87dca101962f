"""What users call: the `pgdl` command, the kit's programs, bundles, diagnoses and studies."""
