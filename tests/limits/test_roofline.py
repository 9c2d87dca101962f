"""The estimate is what one computes by hand."""

from __future__ import annotations

import pytest

from ingestion.cost.roofline import (
    DEVICES,
    Device,
    Roof,
    device_seconds,
    find_devices,
    roofline_seconds,
)
from pgdl_measures.errors import UnknownNameError

ROOF = Roof(flops=100.0, bandwidth=10.0)


def test_a_step_takes_the_longer_of_arithmetic_and_memory():
    # 300 operations take 3 s and their 20 bytes 2 s; 100 operations take 1 s and 50 bytes 5 s.
    assert roofline_seconds(ROOF, [300, 100], [20, 50]) == 3 + 5


def test_a_device_is_slower_than_its_roof_and_needs_to_be_told_and_fed():
    device = Device("x", "", ROOF, "")
    seconds = device_seconds(
        device, [300, 100], [20, 50], calls=1000, efficiency=0.25, input_bytes=12e9
    )
    assert seconds == pytest.approx(8 / 0.25 + 1000 * 20e-6 + 2)


def test_no_device_is_assumed_to_come_nearer_to_its_roof_than_half():
    device = Device("x", "", ROOF, "")
    seconds = device_seconds(device, [300], [20], calls=0, efficiency=0.9, input_bytes=0)
    assert seconds == pytest.approx(3 / 0.5)


def test_the_peaks_follow_from_the_data_sheets():
    assert DEVICES["k80"].roof.flops == pytest.approx(2496 * 2 * 562e6, rel=0.01)
    assert DEVICES["v100"].roof.flops == pytest.approx(5120 * 2 * 1530e6, rel=0.01)


def test_devices_are_found_by_name():
    assert [device.name for device in find_devices("v100, k80")] == ["v100", "k80"]
    with pytest.raises(UnknownNameError, match=r"unknown device 'v10'; did you mean v100\?"):
        find_devices("k80,v10")
