"""Writes the results of the eight small tasks into the repository: all that others can use.

    pgdl zoo suite mini -o CORPUS --data-dir DIR
    pgdl run CORPUS -m all -o OUT
    python benchmarks/mini/publish.py OUT CORPUS
    python benchmarks/mini/pages.py

`benchmarks/results/mini` then holds the references (gaps and hyperparameters), the predictions of
every measure, and for every network the seconds, options, seed, threads and versions. It holds no
weights, no curves and no paths of the machine.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from pages import RESULTS

from scoring.files import write_whole
from scoring.kit.predictions import find_measures, find_predictions
from scoring.kit.reference import find_references
from scoring.record import RECORDS, Line, parse_lines
from scoring.report.published_runs import REFERENCE

OF_A_MODEL = ("seed", "threads", "versions")
BY_MEASURE = ("values", "seconds", "options", "errors")


def main() -> None:
    """Replaces the published results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="what `pgdl run` wrote")
    parser.add_argument("corpus", type=Path, help="what `pgdl zoo suite mini` wrote")
    args = parser.parse_args()
    shutil.rmtree(RESULTS, ignore_errors=True)
    for task, path in find_references(args.corpus).items():
        models = json.loads(path.read_text(encoding="utf-8")).items()
        lines = (f"{json.dumps(model)}: {json.dumps(entry)}" for model, entry in models)
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        write_whole(RESULTS / REFERENCE / task / path.name, text)
    for measure in find_measures(args.out):
        for task, path in find_predictions(args.out / measure).items():
            write_whole(RESULTS / measure / f"{task}.predict", path.read_text(encoding="utf-8"))
    record = parse_lines((args.out / RECORDS).read_bytes(), args.out / RECORDS).lines
    text = "".join(json.dumps(content) + "\n" for content in condensed(record))
    write_whole(RESULTS / RECORDS, text)
    size = sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file())
    print(f"wrote {RESULTS}: {size / 1e6:.1f} MB")


def condensed(lines: list[Line]) -> list[dict[str, Any]]:
    """One line per model, of the last result of each measure."""
    models: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        found = models.setdefault((line.task, line.model), {"task": line.task, "model": line.model})
        found |= {name: getattr(line, name) for name in OF_A_MODEL}
        for name in BY_MEASURE:
            found.setdefault(name, {}).update(getattr(line, name))
        for measure in line.values:
            found["errors"].pop(measure, None)
    for found in models.values():
        found["seconds"] = {name: round(value, 3) for name, value in found["seconds"].items()}
    return [models[key] for key in sorted(models)]


if __name__ == "__main__":
    main()
