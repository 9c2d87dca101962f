"""The outside world: the `pgdl` command, kit-compatible programs, bundles and the zoo builder."""
