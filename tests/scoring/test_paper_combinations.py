"""The combinations are the rows that the paper prints, and their tables have its layout."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from shared_data import SHARED

from scoring.cmi import cmi
from scoring.combine import combine
from scoring.kit.combined import combine_all
from scoring.paper_combinations import MEASURES, TABLES, paper_combinations, paper_names
from scoring.report.leaderboard import leaderboard
from scoring.report.paper_layout import combination_tables, table_1
from starting_kit_adapter.cli import main

PAPER = next(iter(sorted((SHARED / "seeds").glob("000_*.txt"))), None)
LABELS = {"pca": "PCA", "npca": "NPCA", "avg": "AVG", "prod": "PROD"}
LABELS |= {"prod_avg": "PROD+AVG", "avg_rank": "AVG RANK"}


def printed_rows(rule: str) -> list[set[str]]:
    """The measures of the rows of a table of the paper, from its text."""
    rows = []
    for line in PAPER.read_text().splitlines():
        label, *cells = line.split("\t")
        if len(cells) < 9 or not label.startswith(f"{LABELS[rule]} "):
            continue
        words = label[len(LABELS[rule]) + 1 :]
        if not words.startswith(("all", "Gi", "Pal")) or "Gi&Mi" in words:
            continue
        if words.startswith("all"):
            kinds = [kind.lower() for kind in re.findall("Gi|Pal", words)]
            rows.append({name for name in MEASURES if name.split("_")[0] in kinds})
        else:
            parts = re.findall(r"(Gi|Pal|Mix) (intra|inter) \$\\ell (\d)\$", words)
            rows.append({"mixup" if a == "Mix" else f"{a.lower()}_{b}_l{c}" for a, b, c in parts})
    return rows


@pytest.mark.skipif(PAPER is None, reason="the papers are not here")
@pytest.mark.parametrize("rule", TABLES)
def test_rows_are_those_of_the_paper(rule: str) -> None:
    ours = [{name.lstrip("-") for name in row} for row in paper_combinations(rule)]
    assert ours == printed_rows(rule)


def test_there_are_87_combinations_with_names_of_their_own() -> None:
    names = [name for rule in TABLES for name in paper_names(rule)]
    assert len(names) == len(set(names)) == 87


def write_run(folder: Path) -> dict[str, np.ndarray]:
    """The measures of the paper on 24 models; Gi is positive, Pal and Mixup negative."""
    rng = np.random.default_rng(0)
    cells = list(itertools.product(range(2), range(3), range(4)))
    gap = rng.uniform(0.1, 0.5, len(cells))
    models = {
        str(i): {
            "hparams": {
                f"h{k}": {"possible_values": [0, 1, 2, 3], "current_value": value}
                for k, value in enumerate(cell)
            },
            "metrics": {"train_acc": 1.0, "test_acc": 1.0 - gap[i]},
        }
        for i, cell in enumerate(cells)
    }
    (folder / "reference" / "task").mkdir(parents=True)
    (folder / "reference" / "task" / "model_configs.json").write_text(json.dumps(models))
    values = {}
    for name in MEASURES:
        values[name] = gap + rng.uniform(0, 0.3, len(gap)) - (0 if name[:2] == "gi" else 2)
        (folder / "out" / name).mkdir(parents=True)
        text = json.dumps({f"model_{i}": v for i, v in enumerate(values[name])})
        (folder / "out" / name / "task.predict").write_text(text)
    return values


def test_all_combinations_are_written_and_scored(tmp_path: Path) -> None:
    values = write_run(tmp_path)
    written, missing = combine_all(tmp_path / "out")
    assert len(written) == 87 and missing == []
    board = leaderboard(tmp_path / "reference", tmp_path / "out", replicates=0)
    sheets = combination_tables(board)
    assert [len(sheet.rows) for sheet in sheets] == [17, 14, 14, 14, 14, 14]
    # Gi and the raw mixup accuracy, averaged: the paper's row with opposite signs.
    mixed = combine("avg", np.array([values["gi_intra_l0"], -values["mixup"]]))
    reference = board.references["task"]
    expected = 100 * cmi(reference.codes, reference.gap, mixed).score
    rows = {row[0]: row for row in sheets[2].rows}
    assert float(str(rows["avg--mixup-gi_intra_l0"][1]).rstrip(" *+")) == round(expected, 2)
    for sheet in sheets:
        numbers = [float(str(row[1]).rstrip(" *+")) for row in sheet.rows]
        starred = [n for n, row in zip(numbers, sheet.rows) if str(row[1]).endswith("*")]
        assert starred and set(starred) == {max(numbers)}
    first = table_1(board)
    assert first.headers == ("measure", "task", "average") and len(first.rows) == 9 + 87


def test_combinations_of_missing_measures_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path)
    (tmp_path / "out" / "mixup" / "task.predict").unlink()
    written, missing = combine_all(tmp_path / "out")
    assert missing == ["mixup"]
    assert len(written) == 87 - 4 * 6


def test_the_verb_prints_the_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = write_run(tmp_path)
    words = ["combine", str(tmp_path / "out"), "--all", "--reference", str(tmp_path / "reference")]
    assert main.main(main.make_parser().parse_args(words)) == 0
    printed = capsys.readouterr().out
    assert all(f"Table {number}" in printed for number in TABLES.values())
    assert "wrote 87 combinations" in printed
    assert f"not in {tmp_path / 'out'}, so that their rows are left out: dbi_mixup" in printed

    # The competition's winner stands at the bottom of each table, wherever combinations go.
    winner = tmp_path / "out" / "dbi_mixup" / "task.predict"
    winner.parent.mkdir()
    winner.write_text(json.dumps({f"model_{i}": v for i, v in enumerate(values["mixup"] ** 3)}))
    words += ["-o", str(tmp_path / "elsewhere")]
    assert main.main(main.make_parser().parse_args(words)) == 0
    printed = capsys.readouterr().out
    reference = leaderboard(tmp_path / "reference", tmp_path / "out", replicates=0).references
    codes, gap = reference["task"].codes, reference["task"].gap
    score = f"{100 * cmi(codes, gap, values['mixup']).score:.2f}"
    last = [part.strip().splitlines()[-1].split() for part in printed.split("\n\n")][: len(TABLES)]
    assert all(row[0] == "dbi_mixup" and row[1] == score for row in last)
