"""Whatever lies in place of a model's files costs that model alone, and is named."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from run_zoo import pgdl_run, predictions, records, write_zoo

# Root may read anything; without these it is a user like others.
USER = ("setpriv", "--inh-caps=-dac_override,-dac_read_search")
USER += ("--bounding-set=-dac_override,-dac_read_search",)


def _pipe(path: Path) -> None:
    """Whoever opens it waits for ever."""
    path.unlink()
    os.mkfifo(path)


def _link(target: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return change


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _sparse(path: Path) -> None:
    """3 GB that take no room."""
    with path.open("wb") as file:
        file.truncate(3 << 30)


def _unwritten(path: Path) -> None:
    """As a save leaves it that was cut off after the shapes: read as zeros."""
    with h5py.File(path, "a") as file:
        name = file["dense"].attrs["weight_names"][1].decode()
        shape = file["dense"][name].shape
        del file["dense"][name]
        file["dense"].create_dataset(name, shape, "f4")


CONFIG, WEIGHTS, INITIAL = "config.json", "weights.hdf5", "weights_init.hdf5"
ODD: list[tuple[str, Callable[[Path], object], str]] = [
    (CONFIG, _pipe, "is not a regular file"),
    (WEIGHTS, _pipe, "is not a regular file"),
    (INITIAL, lambda path: os.mkfifo(path), "is not a regular file"),
    (CONFIG, _folder, "is not a regular file"),
    (CONFIG, _link("/dev/zero"), "is not a regular file"),
    (WEIGHTS, _link("/dev/zero"), "is not a regular file"),
    (WEIGHTS, _link("/etc/passwd"), "is not a whole hdf5 file"),
    (CONFIG, _link(CONFIG), "Too many levels of symbolic links"),
    (CONFIG, _link("nowhere"), "is missing"),
    (CONFIG, _sparse, "it has 3221225472 bytes"),
    (CONFIG, lambda path: path.write_text("[" * 200_000), "nested too deeply"),
    (WEIGHTS, _unwritten, "declares values, but none are stored"),
]


def test_a_pipe_a_link_or_a_device_in_place_of_a_file_costs_its_own_model(tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", len(ODD) + 2), tmp_path / "out"
    for number, (name, change, _) in enumerate(ODD):
        change(zoo / "t" / f"model_{number}" / name)
    code, printed = pgdl_run(zoo, "-m", "params", "-o", out, "--workers", 1, "--time-limit", 120)
    assert code == 1 and "Traceback" not in printed
    assert predictions(out, "params").keys() == {f"model_{len(ODD) + i}" for i in range(2)}
    found = {record["model"]: record["errors"].get("params", "") for record in records(out)}
    for number, (name, _, message) in enumerate(ODD):
        reason = found[f"model_{number}"]
        assert f"model_{number}/{name}" in reason and message in reason
        assert len(reason.splitlines()) == 1


def _is_root_without_setpriv() -> bool:
    if os.geteuid() != 0:
        return False
    return not shutil.which("setpriv") or subprocess.run([*USER, "true"]).returncode != 0


@pytest.mark.skipif(_is_root_without_setpriv(), reason="root may read every file")
def test_what_may_not_be_read_costs_its_own_model_also_after_it_had_a_value(tmp_path: Path) -> None:
    zoo, out = write_zoo(tmp_path / "zoo", 4), tmp_path / "out"
    prefix = USER if os.geteuid() == 0 else ()
    arguments = (zoo, "-m", "params", "-o", out, "--workers", 1)
    folder, weights = zoo / "t" / "model_1", zoo / "t" / "model_2" / WEIGHTS
    code, printed = pgdl_run(*arguments, prefix=prefix)
    assert code == 0, printed
    whole = predictions(out, "params")
    folder.chmod(0)
    weights.chmod(0)
    code, printed = pgdl_run(*arguments, prefix=prefix)
    assert code == 1 and "Traceback" not in printed
    assert predictions(out, "params") == {m: whole[m] for m in ("model_0", "model_3")}
    for path in (folder / CONFIG, weights):
        assert f"{path}: cannot be read (Permission denied)" in printed
    folder.chmod(0o755)
    weights.chmod(0o644)
    code, printed = pgdl_run(*arguments, "--retry-failed", prefix=prefix)
    assert code == 0, printed
    assert predictions(out, "params") == whole
