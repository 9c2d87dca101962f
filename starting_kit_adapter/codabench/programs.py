"""The two programs that a Codabench worker runs, as folders that need no installation.

The worker starts a program by the `command` of its `metadata` with `/app/program` as the working
directory, after it has replaced, among others (`compute_worker.py` of codalab/codabench):

    ingestion   $input /app/input_data   $output /app/output   $ingestion_program /app/program
                $submission_program /app/ingested_program
    scoring     $input /app/input (with ref/ and res/)   $output /app/output   $program /app/program

`$…` and not the paths themselves, so that CodaLab and a run on one's own machine understand it too.
"""

from __future__ import annotations

from starting_kit_adapter.bundle.vendor import vendored
from starting_kit_adapter.codabench.yaml_text import yaml_text

PACKAGE = "pgdl_program"  # unlike the package of our submissions, which the ingestion imports

_START = '''\
"""{description}"""

import sys

from {package}.{module} import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''


def ingestion_program(input_path: str | None = None) -> dict[str, bytes]:
    """The ingestion program; `input_path` is where the worker has the data, if not in `$input`."""
    return _program(
        "ingestion.py",
        "starting_kit_adapter.ingestion",
        f"python3 $ingestion_program/ingestion.py {input_path or '$input'} $output "
        "$ingestion_program $submission_program",
        "Runs a submission over all models of all tasks.",
    )


def scoring_program() -> dict[str, bytes]:
    """The scoring program, which writes `scores.json` and `detailed_results.html`."""
    return _program(
        "score.py",
        "starting_kit_adapter.score",
        "python3 $program/score.py $input $output",
        "Scores the predictions of a submission against the generalization gaps.",
    )


def _program(start: str, module: str, command: str, description: str) -> dict[str, bytes]:
    text = _START.format(description=description, package=PACKAGE, module=module)
    return {
        start: text.encode(),
        "metadata": yaml_text({"command": command, "description": description}).encode(),
        **vendored([module], PACKAGE),
    }
