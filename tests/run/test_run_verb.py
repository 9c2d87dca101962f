"""The options of `pgdl run`, from the line and from a file, and what it prints."""

from __future__ import annotations

import argparse
import io
import json
import shlex
from pathlib import Path

import pytest
from run_plans import write_corpus
from run_zoo import pgdl_run, predictions, records, write_zoo

from ingestion.run.chosen import choose_measures
from pgdl_measures.errors import PgdlError, UnknownNameError
from starting_kit_adapter.terminal.run_options import (
    add_arguments,
    parse_option,
    plain,
    read_settings,
    typed,
)
from starting_kit_adapter.terminal.text import Progress, duration, progress_line


def settings(*words: object) -> dict:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return read_settings(parser.parse_args(["zoo", *map(str, words)]))


def test_settings_typed_out_are_read_back_as_they_were() -> None:
    words = "-m gi,pal -o out --set batches=3 --set x=[1,2] --memory-limit 1.5G --retry-failed"
    first = settings(*words.split(), "--time-limit", 20)
    assert first["memory_limit"] == 3 * 2**29
    assert settings(*typed(first)) == first
    assert settings(*shlex.split(shlex.join(typed(first)))) == first


def test_a_file_gives_options_and_the_line_wins(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    content = {
        "measures": ["gi", "pal"],
        "time-limit": 20,
        "set": {"batches": 3},
        "recompute": True,
    }
    path.write_text(json.dumps(content))
    found = settings("--config", path, "--time-limit", 30)
    assert found["measures"] == "gi,pal" and found["set"] == ["batches=3"]
    assert found["time_limit"] == 30.0 and found["recompute"] is True
    path.write_text(json.dumps({"corpus": "zoo", "settings": plain(found)}))  # as a run.json
    assert settings("--config", path) == found


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"worker": 2}', "unrecognized arguments: --worker 2"),
        ('{"workers": 0}', "expected a positive integer, found '0'"),
        ('{"time-rule": "kit"}', "invalid choice: 'kit'"),
        ("[1]", "not a JSON object"),
        ("{", "cannot read"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name(tmp_path, content, message) -> None:
    path = tmp_path / "options.json"
    path.write_text(content)
    with pytest.raises(PgdlError, match=message) as caught:
        settings("--config", path)
    assert str(path) in str(caught.value)


def test_values_of_options_are_json_or_words() -> None:
    assert parse_option("batches=3") == ("batches", 3)
    assert parse_option("magnitudes=[0.1, 0.2]") == ("magnitudes", [0.1, 0.2])
    assert parse_option("max_bytes=4G") == ("max_bytes", 4 * 1024**3)
    for size in ("much", "0", "9" * 400):
        with pytest.raises(PgdlError, match=f"max_bytes={size}: '{size}' is not a size such as 4G"):
            parse_option(f"max_bytes={size}")
    assert parse_option("attack=nearest") == ("attack", "nearest")
    with pytest.raises(PgdlError, match="expected OPTION=VALUE"):
        parse_option("batches")


def test_options_go_to_the_measures_that_have_them() -> None:
    gi, mine = choose_measures(["gi_intra_l0", "faulty_measures:faulty"], {"seconds": 1}, seed=5)
    assert gi.options == {"seed": 5} and mine.options == {"seconds": 1}
    assert mine.name == "faulty" and mine.target == "faulty_measures:faulty"


def test_an_option_at_its_default_is_no_change() -> None:
    (gi,) = choose_measures(["gi_intra_l0"], {"batches": 180}, seed=0)
    assert gi == choose_measures(["gi_intra_l0"], {})[0]


def test_unknown_names_are_answered() -> None:
    with pytest.raises(UnknownNameError, match="did you mean batches"):
        choose_measures(["gi_intra_l0"], {"batchs": 1})
    with pytest.raises(PgdlError, match="which is no function"):
        choose_measures(["faulty_measures:__name__"], {})
    with pytest.raises(PgdlError, match="no measure 'faulty_measures:nothing'"):
        choose_measures(["faulty_measures:nothing"], {})
    with pytest.raises(PgdlError, match="no measure 'no_module:nothing'"):
        choose_measures(["no_module:nothing"], {})


def test_what_is_missing_is_said_at_once(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", t=1)
    for words, message in [
        (["-o", tmp_path], "--measures is missing"),
        (["-m", "mixup"], "--output is missing"),
        (["-m", "mixup", "-o", tmp_path, "--models", "7"], "unknown model '7'"),
        (["-m", "mixup", "-o", tmp_path, "--tasks", "s"], "unknown task 's'"),
    ]:
        code, printed = pgdl_run(corpus, *words)
        assert code == 1 and message in printed
    assert list(tmp_path.iterdir()) == [corpus]


@pytest.mark.keras2
def test_registered_measures_share_a_run_and_their_curve(tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", 2), tmp_path / "out"
    code, printed = pgdl_run(zoo, "-m", "gi_intra_l0,mixup", "-o", out, "--workers", 1)
    assert code == 0, printed
    assert "2 of 2 models computed now" in printed and "gi_intra_l0" in printed
    first = records(out)[0]
    assert first["values"]["mixup"] == predictions(out, "mixup")[first["model"]]
    assert first["curves"][0]["pairing"] == "intra" and first["peak_memory"] > 2**27
    assert first["versions"].keys() == {"pgdl", "tensorflow", "keras", "numpy", "python"}


def test_the_live_line_says_how_far_how_fast_and_how_long() -> None:
    line = progress_line(10, 2, 40, "models", 30.0, "task1 model_3")
    assert line == "10/40 models, 2 failed, 18/min, 1:40 left  task1 model_3"
    assert duration(3661) == "1:01:01"


def test_progress_is_silent_where_nobody_looks() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, expected in ((io.StringIO(), False), (Terminal(), True)):
        with Progress(2, "models", stream) as progress:
            progress.step("t model_0", failed=True)
        assert ("1/2 models, 1 failed" in stream.getvalue()) is expected


def test_the_record_tells_how_many_batches_were_enough(tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", 7), tmp_path / "out"
    wanted = ("-m", "gi_intra_l0,params", "--set", "batches=enough", "--workers", 1)
    assert pgdl_run(zoo, "-o", out, *wanted)[0] == 0
    used = [line["batches"] for line in records(out)]
    assert [len(one) for one in used] == [1] * 7  # params has none
    assert [one["gi_intra_l0"] for one in used[:4]] == [180] * 4
    assert all(5 <= one["gi_intra_l0"] <= 180 for one in used[4:])
