"""The parts of an estimate add up, with a clock and a machine that are known."""

from __future__ import annotations

import corpora
import pytest

from ingestion.cost import profile
from ingestion.cost.calibration import Machine, Speed
from ingestion.cost.roofline import Device, Roof
from ingestion.model_files.models import build_model
from pgdl_measures.base import Measure, Subject

pytestmark = pytest.mark.keras2

ROOF = Roof(1e6, 1e6)
SLOW = Device("slow", "", ROOF, "")


def three_passes(subject):
    """A measure of three forward passes of 50 examples each."""
    for _ in range(3):
        subject.network.run(subject.data.inputs[:50])
    return 0.0


def no_passes(subject):
    """A measure that does not run the network."""
    return 0.0


@pytest.fixture
def subject():
    config = {"model_config": corpora.nin(4), "input_shape": [6, 6, 3]}
    return Subject(build_model(config), corpora.dataset(*corpora.examples(60, (6, 6, 3), 4)))


@pytest.fixture
def clock(monkeypatch):
    """A measure takes ten seconds; a forward pass of one example takes 20 ms of them."""
    ticks = iter([100.0, 110.0])
    monkeypatch.setattr(profile, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(profile, "measure_speed", lambda *_: Speed(0.02, 0.5))


def metered(function, subject):
    measure = Measure(function.__name__, "", f"{__name__}:{function.__name__}")
    return profile.Estimator(Machine("", ROOF), [SLOW])(measure, subject)


def test_what_is_not_a_forward_pass_takes_as_long_as_here(subject, clock):
    twin = profile.counted(subject.network)
    found = metered(three_passes, subject)
    assert found.seconds == 10
    assert found.forward.passes == pytest.approx(150)
    assert found.forward.seconds == pytest.approx(150 * 0.02)
    # On the slow device: the roofline at half efficiency, 3 calls of each step, the inputs.
    passes = twin.passes()
    roofline = sum(max(f, b) / 1e6 for f, b in zip(passes.step_flops, passes.step_bytes))
    launches, transfer = 3 * len(passes.work) * 20e-6, 60 * 6 * 6 * 3 * 4 / 6e9
    expected = (10 - 3) + roofline / 0.5 + launches + transfer
    assert found.elsewhere == {"slow": pytest.approx(expected)}


def test_a_measure_without_forward_passes_is_not_promised_to_be_faster(subject, clock):
    found = metered(no_passes, subject)
    assert found.forward.flops == 0
    assert found.elsewhere["slow"] == pytest.approx(10, abs=1e-3)
    assert found.elsewhere["slow"] >= found.seconds
