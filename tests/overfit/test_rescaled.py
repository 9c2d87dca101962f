"""Zoos of the rescaled protocol: windows of upsampled images, of an eps that the zoo remembers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from runs import SIDE, pgdl_zoo, stripes, write_grid

from ingestion.datasets.shards import read_data
from ingestion.errors import ZooError
from ingestion.zoo.rescaled import rescaled


def _upsampled(image: np.ndarray, side: int) -> np.ndarray:
    from PIL import Image

    return np.asarray(
        Image.fromarray(image[..., 0]).resize((side, side), Image.Resampling.BILINEAR)
    )


@pytest.mark.parametrize("eps", [1, 2])
def test_test_images_are_central_and_training_images_random_windows_of_pillows_upsampling(eps):
    pytest.importorskip("PIL")
    data = stripes()
    found = rescaled(data, eps=eps)
    centre, span = 3 * eps, 6 * eps + 1
    for image, window in zip(data.test.images, found.test.images):
        canvas = _upsampled(image, SIDE + 6 * eps)
        expected = canvas[centre : centre + SIDE, centre : centre + SIDE]
        np.testing.assert_allclose(window[..., 0], expected, atol=1e-5)
    corners = []
    for image, window in zip(data.train.images, found.train.images):
        canvas = _upsampled(image, SIDE + 6 * eps)
        views = np.lib.stride_tricks.sliding_window_view(canvas, (SIDE, SIDE))
        distance = np.abs(views - window[..., 0]).max(axis=(2, 3))  # [span, span]
        assert distance.min() < 1e-5
        corners.append(np.unravel_index(distance.argmin(), (span, span)))
    # 150 draws of each of at most 13 offsets: all of them come up.
    assert all(set(offsets) == set(range(span)) for offsets in zip(*corners))


def test_the_zoo_holds_the_windows_of_its_eps_and_remembers_it(rescaled_zoo: Path):
    (settings,) = json.loads((rescaled_zoo / "zoo.json").read_text())["tasks"].values()
    assert settings["eps"] == 1
    stored = read_data(rescaled_zoo / "input_data/stripes")
    expected = rescaled(stripes().limited(60, 45), eps=1)
    np.testing.assert_array_equal(stored.test.images, expected.test.images)
    np.testing.assert_array_equal(stored.train.images, expected.train.images)


def test_another_eps_is_another_zoo(rescaled_zoo: Path, source: str, tmp_path: Path):
    arguments = ("build", "--data", source, "--grid", write_grid(tmp_path), "-o", rescaled_zoo)
    with pytest.raises(ZooError, match="eps: built with 1, now 2"):
        pgdl_zoo(*arguments, "--protocol", "rescaled", "--repeats", 3)


def test_eps_without_the_protocol_is_refused(source: str, tmp_path: Path):
    arguments = ("build", "--data", source, "--grid", write_grid(tmp_path), "-o", tmp_path / "zoo")
    with pytest.raises(ZooError, match="--eps belongs to --protocol rescaled"):
        pgdl_zoo(*arguments, "--eps", 3)
    assert not (tmp_path / "zoo").exists()
