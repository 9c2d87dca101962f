"""Each operation of RandAugment equals Pillow's, at its magnitude, on any number of channels.

Bounds: moving operations pick the very same pixels; so do cutouts. Operations on colours are equal,
too, but for AutoContrast, where Pillow's own rounding may lose a level.
"""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from pgdl_measures.perturbations.operations import (
    MAX_MAGNITUDE,
    OPERATIONS,
    RANDAUGMENT,
    SINGLE,
    Moving,
)
from pgdl_measures.perturbations.randaugment import Draws, draw, randaugment

SIZES = ((32, 32), (28, 28), (9, 14), (3, 3))
MAGNITUDES = (0, 4, 9, 15, 20, 30)
# As in the implementation's list, which begins with AutoContrast and ends with TranslateYabs.
RANGES = {
    "AutoContrast": (0, 1),
    "Equalize": (0, 1),
    "Invert": (0, 1),
    "Rotate": (0, 30),
    "Posterize": (0, 4),
    "Solarize": (0, 256),
    "SolarizeAdd": (0, 110),
    "Color": (0.1, 1.9),
    "Contrast": (0.1, 1.9),
    "Brightness": (0.1, 1.9),
    "Sharpness": (0.1, 1.9),
    "ShearX": (0, 0.3),
    "ShearY": (0, 0.3),
    "CutoutAbs": (0, 40),
    "TranslateXabs": (0, 100),
    "TranslateYabs": (0, 100),
}


def images(count: int, size: tuple[int, int], channels: int = 3, seed: int = 0) -> np.ndarray:
    """Noise of all kinds: full range, narrow, few levels, and with smooth parts."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (count, *size, channels))
    noise[1::4] = 90 + noise[1::4] // 5
    noise[2::4] = noise[2::4] // 64 * 64
    noise[3::4] = np.cumsum(noise[3::4] % 9, axis=2) % 256
    return noise.astype(np.uint8)


def applied(x: np.ndarray, *names: str, magnitude: float = 20, seed: int = 0) -> np.ndarray:
    draws = draw(len(x), count=0, magnitude=magnitude, operations=names, seed=seed)
    return randaugment(tf.constant(x), draws).numpy()


def applied_each(x: np.ndarray) -> dict[str, np.ndarray]:
    """The images after each operation at magnitude 20, in one batch."""
    each = [draw(len(x), count=0, magnitude=20, operations=[n], seed=0) for n in OPERATIONS]
    draws = Draws(*(tf.concat(columns, axis=0) for columns in zip(*each)))
    changed = randaugment(tf.tile(x, [len(OPERATIONS), 1, 1, 1]), draws).numpy()
    return dict(zip(OPERATIONS, np.split(changed, len(OPERATIONS))))


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", RANDAUGMENT)
def test_an_operation_equals_pillows(name, channels):
    pytest.importorskip("PIL")
    from PIL import Image
    from pillow_operations import apply

    for size in SIZES:
        draws = [draw(16, count=0, magnitude=m, operations=[name], seed=m) for m in MAGNITUDES]
        draws = Draws(*(tf.concat(columns, axis=0) for columns in zip(*draws)))
        x = images(len(draws.value), size, channels)
        ours = randaugment(tf.constant(x), draws).numpy()
        values, places = draws.value[:, 0].numpy().astype(float), draws.place[:, 0].numpy()
        pillows = [
            apply(Image.fromarray(image.squeeze(-1) if channels == 1 else image), name, v, place)
            for image, v, place in zip(x, values, places)
        ]
        error = np.abs(ours.astype(int) - np.reshape(np.stack(pillows), x.shape))
        assert error.max() <= (1 if name == "AutoContrast" else 0), size


def test_the_magnitudes_are_the_implementations():
    assert {n: (op.low, op.high) for n, op in RANDAUGMENT.items()} == RANGES
    assert list(RANDAUGMENT) == list(RANGES)
    for name, (low, high) in RANGES.items():
        for magnitude in range(MAX_MAGNITUDE + 1):
            expected = (float(magnitude) / 30) * float(high - low) + low
            assert RANDAUGMENT[name].value(magnitude) == pytest.approx(expected, rel=1e-12)


def test_a_fourth_channel_moves_with_the_pixels_and_keeps_its_values():
    x = images(12, (16, 16), 4)
    whole, colours, fourth = applied_each(x), applied_each(x[..., :3]), applied_each(x[..., 3:])
    for name, operation in OPERATIONS.items():
        np.testing.assert_array_equal(whole[name][..., :3], colours[name])
        moves = isinstance(operation, Moving) or name == "CenterCrop"
        np.testing.assert_array_equal(whole[name][..., 3:], fourth[name] if moves else x[..., 3:])


def test_color_leaves_grey_images():
    x = images(8, (10, 10), 1)
    np.testing.assert_array_equal(applied(x, "Color", magnitude=30), x)


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_of_one_level_pass_through_what_stretches_levels(channels):
    x = np.stack([np.full((12, 12, channels), level, np.uint8) for level in (0, 7, 128, 255)])
    found = applied_each(x)
    for name in ("AutoContrast", "Equalize", "Contrast", "Sharpness"):
        np.testing.assert_array_equal(found[name], x)
    assert all(images.shape == x.shape for images in found.values())


def test_a_random_rotation_is_pillows_by_an_angle_of_up_to_thirty_degrees():
    image = pytest.importorskip("PIL.Image")
    x = images(100, (20, 20))
    draws = draw(100, count=0, magnitude=30, operations=["RandomRotation"], seed=0)
    angles = 60.0 * draws.place[:, 0, 0].numpy() - 30
    expected = [np.asarray(image.fromarray(each).rotate(a)) for each, a in zip(x, angles)]
    np.testing.assert_array_equal(randaugment(tf.constant(x), draws), expected)


def test_single_transformations_are_what_their_names_say():
    x = images(400, (16, 24))
    flipped = applied(x, "RandomFlip")
    is_mirrored = (flipped == x[:, :, ::-1]).all(axis=(1, 2, 3))
    is_same = (flipped == x).all(axis=(1, 2, 3))
    assert (is_mirrored ^ is_same).all() and 150 < is_mirrored.sum() < 250
    # A crop by up to an eighth: 2 rows, 3 columns, from a frame of black.
    framed = np.pad(x, [(0, 0), (2, 2), (3, 3), (0, 0)])
    windows = np.stack([framed[:, i : i + 16, j : j + 24] for i in range(5) for j in range(7)])
    found = (applied(x, "RandomCrop") == windows).all(axis=(2, 3, 4))  # [windows, images]
    assert found.any(axis=0).all() and found.any(axis=1).all()
    # The middle of a ramp, enlarged, is a flatter ramp.
    ramp = np.broadcast_to(np.arange(0, 256, 8, dtype=np.uint8)[:, None, None], (1, 32, 32, 1))
    inner = applied(ramp, "CenterCrop")[0, :, 0, 0].astype(float)
    np.testing.assert_allclose(inner, 124 + 7 * (np.arange(32) - 15.5), atol=0.51)
    assert list(SINGLE) == ["CenterCrop", "RandomCrop", "RandomFlip", "RandomRotation"]
