"""RandAugment's operations by Pillow, image by image: what the batched ones are compared with.

They are those of the implementation that Wu et al. 2021 use (ildoonet/pytorch-randaugment), with
the random choices as arguments.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

_MATRICES = {
    "ShearX": lambda v: (1, v, 0, 0, 1, 0),
    "ShearY": lambda v: (1, 0, 0, v, 1, 0),
    "TranslateXabs": lambda v: (1, 0, v, 0, 1, 0),
    "TranslateYabs": lambda v: (1, 0, 0, 0, 1, v),
}


def apply(image: Image.Image, name: str, value: float, place: np.ndarray) -> Image.Image:
    """One operation; `place` is where a cutout is centred, as shares of the width and height."""
    if name in _MATRICES:
        return image.transform(image.size, Image.Transform.AFFINE, _MATRICES[name](value))
    if name in ("Color", "Contrast", "Brightness", "Sharpness"):
        return getattr(ImageEnhance, name)(image).enhance(value)
    if name in ("AutoContrast", "Equalize", "Invert"):
        return getattr(ImageOps, name.lower())(image)
    if name == "Rotate":
        return image.rotate(value)
    if name == "Posterize":
        return ImageOps.posterize(image, max(1, int(value)))
    if name == "Solarize":
        return ImageOps.solarize(image, value)  # type: ignore[arg-type]
    if name == "SolarizeAdd":
        lighter = np.clip(np.asarray(image).astype(int) + value, 0, 255).astype(np.uint8)
        return ImageOps.solarize(Image.fromarray(lighter), 128)
    if name == "CutoutAbs":
        return _cutout(image, value, place)
    raise ValueError(name)


def _cutout(image: Image.Image, value: float, place: np.ndarray) -> Image.Image:
    width, height = image.size
    left = int(max(0, place[0] * width - value / 2))
    top = int(max(0, place[1] * height - value / 2))
    corners = left, top, min(width, left + value), min(height, top + value)
    image = image.copy()
    ImageDraw.Draw(image).rectangle(corners, 123 if image.mode == "L" else (125, 123, 114))
    return image
