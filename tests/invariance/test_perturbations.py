"""Perturbations against SciPy, Pillow and NumPy on random images."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image, ImageEnhance
from scipy import ndimage

from pgdl_measures.perturbations import image
from pgdl_measures.perturbations.catalogue import perturbations

pytestmark = pytest.mark.keras2

RNG = np.random.default_rng(0)
SEED = tf.constant([1, 2])
PIXEL = 1.01 / 255  # Pillow cuts to whole levels after each step


def images(*shape: int) -> np.ndarray:
    """Bytes as floats in [0, 1], so that Pillow can be given the same."""
    return (RNG.integers(0, 256, shape) / 255).astype(np.float32)


def apply(function, batch: np.ndarray, magnitudes: list[float]) -> np.ndarray:
    alphas = tf.reshape(tf.constant(magnitudes, tf.float32), [-1, 1, 1, 1])
    return function(tf.constant(batch), alphas, SEED).numpy()


@pytest.mark.parametrize("name", [p.name for p in perturbations()])
@pytest.mark.parametrize("shape", [(8, 8, 1), (9, 6, 3), (7, 7, 4), (5, 8, 2)])
def test_a_magnitude_of_zero_is_the_identity(name, shape):
    (found,) = (p for p in perturbations() if p.name == name)
    batch = images(4, *shape)
    np.testing.assert_allclose(apply(found.function, batch, [0.0] * 4), batch, atol=1e-6)


@pytest.mark.parametrize("name", [p.name for p in perturbations()])
def test_every_image_has_its_own_magnitude(name):
    (found,) = (p for p in perturbations() if p.name == name)
    batch = np.repeat(images(1, 8, 8, 3), 3, axis=0)
    if name == "noise":  # each image has noise of its own: compare the same place of a batch
        batch = batch[:1]
    together = apply(found.function, batch, [found.high, found.low, 0.1][: len(batch)])
    for i, alpha in enumerate([found.high, found.low, 0.1][: len(batch)]):
        alone = apply(found.function, batch[i : i + 1], [alpha])
        np.testing.assert_allclose(together[i], alone[0], atol=1e-6)


@pytest.mark.parametrize("side", [7, 8])
def test_a_rotation_by_90_degrees_is_rot90(side):
    batch = images(3, side, side, 3)
    turned = apply(image.rotation, batch, [90.0, 180.0, -90.0])
    for i, quarters in enumerate((1, 2, -1)):
        np.testing.assert_allclose(turned[i], np.rot90(batch[i], quarters), atol=1e-4)


@pytest.mark.parametrize("degrees", [-133.0, -20.0, 7.5, 61.0])
def test_rotations_are_those_of_scipy(degrees):
    batch = images(1, 12, 9, 3)
    angle = np.deg2rad(degrees)
    back = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    centre = (np.array(batch.shape[1:3]) - 1) / 2
    expected = np.stack(
        [
            ndimage.affine_transform(
                batch[0, ..., c], back, centre - back @ centre, order=1, mode="grid-constant"
            )
            for c in range(3)
        ],
        axis=-1,
    )
    np.testing.assert_allclose(apply(image.rotation, batch, [degrees])[0], expected, atol=1e-4)


@pytest.mark.parametrize("share", [-0.5, -0.2, 0.1, 0.5])
def test_translations_are_those_of_scipy_to_the_right_and_down(share):
    batch = images(1, 10, 6, 2)
    for function, axis in ((image.translation_y, 0), (image.translation_x, 1)):
        shift = [0, 0, 0]
        shift[axis] = int(np.round(share * batch.shape[1 + axis]))
        expected = ndimage.shift(batch[0], shift, order=0, cval=0.0)
        np.testing.assert_array_equal(apply(function, batch, [share])[0], expected)


@pytest.mark.parametrize("magnitude", [-0.25, 0.1, 0.25])
def test_jitter_is_that_of_pillow_in_torchvisions_order(magnitude):
    batch = images(1, 8, 8, 3)
    picture = Image.fromarray(np.round(255 * batch[0]).astype(np.uint8))
    for enhancer in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        picture = enhancer(picture).enhance(1 + magnitude)
    expected = np.asarray(picture) / 255
    # Our hue is turned back, since Pillow has none.
    found = apply(image.colour_jitter, batch, [magnitude])
    back = image.hue(tf.constant(found), tf.fill([1, 1, 1, 1], -magnitude)).numpy()[0]
    assert np.abs(back - expected).max() < 4 * PIXEL


def test_hues_turn_as_in_the_standard_library():
    batch = images(1, 6, 6, 3)
    found = image.hue(tf.constant(batch), tf.fill([1, 1, 1, 1], 0.2)).numpy()[0]
    for colour, expected in zip(found.reshape(-1, 3), batch.reshape(-1, 3)):
        h, s, v = colorsys.rgb_to_hsv(*map(float, expected))
        np.testing.assert_allclose(colour, colorsys.hsv_to_rgb((h + 0.2) % 1, s, v), atol=1e-5)


def test_a_fourth_channel_moves_along_but_is_no_colour():
    batch = images(1, 8, 8, 4)
    jittered = apply(image.colour_jitter, batch, [0.25])
    np.testing.assert_array_equal(jittered[..., 3], batch[..., 3])
    assert np.abs(jittered[..., :3] - batch[..., :3]).max() > 0.1
    moved = apply(image.translation_x, batch, [0.25])
    np.testing.assert_array_equal(moved[:, :, 2:], batch[:, :, :-2])
    for function in (image.noise, image.intensity):  # of values, not of colours
        assert np.abs(apply(function, batch, [0.2]) - batch)[..., 3].max() > 0.1


def test_noise_has_the_standard_deviation_asked_for_and_is_the_same_at_every_magnitude():
    grey = np.full((2, 64, 64, 1), 0.5, np.float32)
    weak, strong = (apply(image.noise, grey, [a, a]) - grey for a in (0.05, 0.1))
    assert np.std(weak) == pytest.approx(0.05, rel=0.03)
    np.testing.assert_allclose(strong, 2 * weak, atol=1e-6)
    assert not np.allclose(weak[0], weak[1])


def test_intensity_is_a_factor():
    batch = images(2, 4, 4, 3)
    found = apply(image.intensity, batch, [-0.5, 0.5])
    np.testing.assert_allclose(found, batch * [[[[0.5]]], [[[1.5]]]], rtol=1e-6)
