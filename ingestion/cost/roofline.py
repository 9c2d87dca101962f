"""Roofline estimate: a step takes the longer of its arithmetic and its memory traffic.

Williams, Waterman and Patterson, "Roofline" (CACM 2009), with three additions: the share of the
roof that programs reach in practice, the launch time of each step, and the transfer of the inputs
to the device. Plain arithmetic, without TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgdl_measures.errors import UnknownNameError

MOST_EFFICIENT = 0.5  # the largest share of another device's roof that is assumed
STEP_SECONDS = 20e-6  # TensorFlow's executor and the launch of a kernel or two, per step
TRANSFER = 6e9  # bytes/s from pageable memory over PCIe 3.0 x16, whose peak is 15.75e9


@dataclass(frozen=True)
class Roof:
    """The peak rates of a device, per second."""

    flops: float  # float32
    bandwidth: float  # bytes


@dataclass(frozen=True)
class Device:
    """A device of the competition."""

    name: str
    title: str
    roof: Roof
    source: str


DEVICES = {
    device.name: device
    for device in (
        Device(
            "k80",
            "one die (GK210, half) of a Tesla K80",
            Roof(2.8e12, 240e9),
            "2496 cores x 2 x 562 MHz base clock (4.4 TFLOPS at the 875 MHz boost are not "
            "assumed); NVIDIA board specification BD-07317-001",
        ),
        Device(
            "v100",
            "one Tesla V100 SXM2",
            Roof(15.7e12, 900e9),
            "5120 cores x 2 x 1530 MHz boost clock, no tensor cores; NVIDIA V100 data sheet "
            "(the PCIe card has 14 TFLOPS)",
        ),
    )
}


def find_devices(names: str) -> list[Device]:
    """Devices by their names, separated by commas."""
    for name in names.split(","):
        if name.strip() not in DEVICES:
            raise UnknownNameError("device", name.strip(), DEVICES)
    return [DEVICES[name.strip()] for name in names.split(",")]


def roofline_seconds(roof: Roof, flops: Sequence[float], moved: Sequence[float]) -> float:
    """The shortest time for steps with these operations and bytes, run one after another."""
    return float(sum(max(f / roof.flops, b / roof.bandwidth) for f, b in zip(flops, moved)))


def device_seconds(
    device: Device,
    flops: Sequence[float],
    moved: Sequence[float],
    *,
    calls: int,
    efficiency: float,
    input_bytes: float,
) -> float:
    """The estimated time of forward passes on a device: compute, launches and the transfer."""
    compute = roofline_seconds(device.roof, flops, moved) / min(efficiency, MOST_EFFICIENT)
    return compute + calls * STEP_SECONDS + input_bytes / TRANSFER
