"""The page: well formed, alone in the world, escaped, and with the numbers of scores.json."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from report_runs import FakeRun, write_run

from scoring.kit.program import score_folders
from scoring.kit.results import write_results
from scoring.markup import Column, table
from scoring.report.leaderboard import Leaderboard, leaderboard
from scoring.report.page import report_page
from starting_kit_adapter.terminal.curve_figures import curve_figures

_VOID = {"meta", "link", "br", "img", "hr", "path", "use", "rect"}


class Reader(HTMLParser):
    """Checks nesting, and collects attributes, ids and the rows of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.rows: list[list[str]] = []  # of every table: texts, or the exact numbers
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "data":
            self.rows[-1][-1] += f"={dict(attrs)['value']}="

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th", "span") and self.rows:
            self.rows[-1][-1] += data


def exact_numbers(row: list[str]) -> list[float]:
    return [float(number) for cell in row for number in re.findall("=([^=]+)=", cell)]


def test_the_page_is_well_formed(page: str) -> None:
    reader = Reader(page)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert used <= set(reader.ids)


def test_the_page_refers_to_nothing_outside(page: str) -> None:
    assert "://" not in page
    for tag, name, value in Reader(page).attributes:
        if name in ("src", "href", "xlink:href", "srcset", "action"):
            assert value.startswith(("#", "data:")), (tag, name, value)
    assert all(target.startswith("#") for target in re.findall(r"url\(\s*[\"']?([^)]*)", page))
    assert "<script" not in page and "@import" not in page


def test_the_leaderboard_holds_the_numbers_of_scores_json(
    page: str, fake: FakeRun, board: Leaderboard, tmp_path: Path
) -> None:
    rows = Reader(page).rows
    for row in board.rows:
        write_results(score_folders(fake.reference, fake.out / row.measure), tmp_path)
        scores = json.loads((tmp_path / "scores.json").read_text())
        average, *by_task = (cells for cells in rows if cells[0] == row.measure)
        expected = [scores[f"task_{task}_score"] for task in board.tasks]
        assert exact_numbers(average)[:3] == [scores["task_average_score"], *expected]
        assert [exact_numbers(cells)[0] for cells in by_task if exact_numbers(cells)] == expected


def test_names_are_escaped(page: str) -> None:
    assert "a &lt;zoo&gt; &amp; more" in page
    assert "&lt;b&gt;odd &amp; $x$" in page
    assert "drop &amp; &lt;i&gt;out&lt;/i&gt;" in page
    assert "<b>" not in page and "<i>" not in page and "<zoo>" not in page


def test_every_picture_says_what_it_shows(page: str) -> None:
    pictures = re.findall(r"<svg [^>]*>", page)
    # Per task: scores; scatter and pairs of the best; the other two measures' points; curves.
    assert len(pictures) == 2 * (1 + 2 + 2 + 2)
    assert all('role="img"' in svg and 'aria-label="' in svg for svg in pictures)
    assert page.count("<title>") == 1 + len(pictures)
    assert page.count("<figcaption>") == len(pictures)


def test_every_colour_of_a_picture_is_the_pages(page: str) -> None:
    for svg in re.findall(r"<svg .*?</svg>", page, flags=re.S):
        assert set(re.findall(r"(?:fill|stroke): (#\w+)", svg)) <= {"#ffffff"}


def test_the_same_run_gives_the_same_page(page: str, board: Leaderboard) -> None:
    curves = {task: curve_figures(board, task) for task in board.tasks}
    assert report_page(board, name="a <zoo> & more", curves=curves) == page


def test_what_is_published_is_labelled(page: str) -> None:
    assert "Published scores of the eight competition tasks" in page
    assert "Not computed here: copied from Y. Schiff" in page
    assert "these numbers are context, not a comparison" in page


def test_a_best_measure_that_ranks_backwards_is_not_praised(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    for measure in ("knows", "guesses"):
        (run.out / measure / "alpha.predict").unlink()
        (run.out / measure).rmdir()
    found = report_page(leaderboard(run.reference, run.out, replicates=20), name="run")
    assert "However, it ranks models backwards" in found


def test_a_page_without_any_score_says_so(tmp_path: Path) -> None:
    run = write_run(tmp_path, tasks=("alpha",))
    for path in run.out.glob("*/alpha.predict"):
        path.write_text('{"model_0": "EXCEEDED"}')
    page = report_page(leaderboard(run.reference, run.out), name="zoo")
    assert "time budget exceeded at model_0" in page
    assert "No measure" in page


def test_a_name_that_would_leave_no_room_for_numbers_is_broken_into_lines() -> None:
    eight = "-".join(
        [
            "pca",
            *(
                f"{score}_{p}_l{n}"
                for score in ("gi", "pal")
                for p in ("inter", "intra")
                for n in (0, 1)
            ),
        ]
    )
    shown = table("", [Column("measure"), Column("CMI")], [[eight, "1"], ["gi_intra_l0", "2"]])
    assert shown.count('class="long"') == 1 and f'class="long">{eight}</th>' in shown
