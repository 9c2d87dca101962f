"""Types of numbers on the command line, for argparse."""

from __future__ import annotations

import argparse
import math
import re


def natural(text: str) -> int:
    """0, 1, 2, …"""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a non-negative integer, found {text!r}")
    return int(text)


def positive(text: str) -> int:
    """1, 2, 3, …"""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, found {text!r}")
    return int(text)


def seed(text: str) -> int:
    """A seed that NumPy and TensorFlow both accept."""
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"expected an integer from 0 to 2^31 - 1, found {text!r}")
    return int(text)


def positive_number(text: str) -> float:
    """Above 0 and finite."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number, found {text!r}")
    return value


def non_negative_number(text: str) -> float:
    """At least 0 and finite."""
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, found {text!r}")
    return value


def fraction(text: str) -> float:
    """Above 0, up to 1."""
    value = _number(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0 and at most 1, found {text!r}")
    return value


def size(text: str) -> int:
    """Bytes: 4G, 500M, 1.5 GB or plain 1000."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip(), re.IGNORECASE)
    count = float(match[1]) * 1024.0 ** "_KMGT".index(match[2].upper() or "_") if match else 0.0
    if not 1 <= count < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 4G or 500M")
    return int(count)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
