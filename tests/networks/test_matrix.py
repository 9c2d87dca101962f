"""Which measures run on which image classifiers: the table at the end of docs/measures.md."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import tensorflow as tf
import zoo_of_kinds
from corpora import dataset, examples
from zoo_of_kinds import CLASSES, KINDS, SHAPE, initialized

import starting_kit_adapter
from pgdl_measures import complexities, measures

FILE = Path(starting_kit_adapter.__file__).parent / "terminal" / "networks.json"
# What is asked here is whether a measure has a value, not which.
# With all examples in the batch, a network that predicts one class is right for some pairs.
LITTLE = {"batches": 1, "batch_size": 64, "points": 3, "examples": 16, "draws": 1, "depth": 2}
LITTLE |= {"graphs": 1, "steps": 1}


def test_every_network_layer_and_measure_of_the_table_exists():
    known = json.loads(FILE.read_text(encoding="utf-8"))
    own = {"small CNN", "CNN with batch norm", "subclassed", "ViT"}
    assert list(known) == list(KINDS)
    for network, refusals in known.items():
        assert network in own or callable(getattr(tf.keras.applications, network)), network
        for measure, reason in refusals.items():
            assert measure in {one.name for one in measures()}, measure
            for layer in re.findall(r"for the layer \w+ \((\w+)\)", reason):
                assert hasattr(tf.keras.layers, layer) or hasattr(zoo_of_kinds, layer), layer


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nearly_every_measure_runs_on_every_image_classifier(kind):
    """Writes what it found into the file of which the documentation is made."""
    tf.keras.utils.set_random_seed(0)
    names = [measure.name for measure in measures()]
    found = complexities(names, **LITTLE)(
        initialized(KINDS[kind]()), dataset(*examples(64, SHAPE, CLASSES))
    )
    known = json.loads(FILE.read_text()) if FILE.is_file() else {}
    known[kind] = found.refusals
    FILE.write_text(json.dumps({k: known[k] for k in KINDS if k in known}, indent=1) + "\n")
    assert all(map(math.isfinite, found.values()))
    assert len(found) >= 75, found.refusals
    assert all(text.count("\n") == 0 for text in found.refusals.values())
