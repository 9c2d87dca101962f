"""The competition's logo, which Codabench requires: a response curve, drawn as a PNG."""

from __future__ import annotations

import struct
import zlib

_SIZE = 128
_PAPER, _INK, _AREA = b"\xff\xff\xff", b"\x1f\x4e\x79", b"\xd6\xe4\xf0"


def logo_png() -> bytes:
    """A square image of an accuracy that falls with the magnitude, and the area below it."""
    height = [0.85 / (1 + (column / (0.6 * _SIZE)) ** 4) for column in range(_SIZE)]
    rows = []
    for row in range(_SIZE):
        level = 1 - row / _SIZE
        pixels = (
            _INK if abs(level - h) < 0.03 else _AREA if 0.06 < level < h else _PAPER for h in height
        )
        rows.append(b"\x00" + b"".join(pixels))  # 0: the row is not filtered
    header = struct.pack(">IIBBBBB", _SIZE, _SIZE, 8, 2, 0, 0, 0)  # 8 bits of red, green, blue
    # Stored, not compressed: the same bytes with any version of zlib.
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
