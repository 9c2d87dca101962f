"""The `pgdl` command: one module per verb, each with HELP, EXAMPLES, add_arguments and run.

A verb's module imports nothing heavy at its top, so that `pgdl -h` answers at once.
"""
