"""The result files of the kit and of Codabench: two forms of the same numbers, and a page."""

from __future__ import annotations

import json
from pathlib import Path

from scoring.files import write_whole
from scoring.kit.page import scores_page
from scoring.kit.program import MISSING_SCORE, Scores


def kit_lines(scores: Scores) -> dict[str, str]:
    """The kit's keys and numbers, as it prints them: `task_<task>_score`, average, duration."""
    lines = {
        f"task_{task.task}_score": f"{MISSING_SCORE if task.cmi is None else task.cmi.score:.12f}"
        for task in scores.tasks
        if not task.exceeded
    }
    lines["task_average_score"] = f"{scores.average:.12f}"
    lines["Duration"] = "0" if scores.duration is None else f"{scores.duration:.6f}"
    return lines


def write_results(scores: Scores, folder: str | Path) -> tuple[Path, ...]:
    """Writes all result files into a folder, each in one step, and returns their paths."""
    lines = kit_lines(scores)
    page = scores_page(scores)
    texts = {
        "scores.txt": "".join(f"{key}: {value}\n" for key, value in lines.items()),
        "scores.json": json.dumps({key: float(value) for key, value in lines.items()}, indent=1),
        "scores.html": page,
        "detailed_results.html": page,
    }
    for name, text in texts.items():
        write_whole(Path(folder) / name, text)
    return tuple(Path(folder) / name for name in texts)
