"""What tests of users' own perturbations have in common."""

from __future__ import annotations

import pytest


@pytest.fixture
def registries(monkeypatch):
    """What a test registers is forgotten after it."""
    from pgdl_measures import registry
    from pgdl_measures.perturbations import catalogue

    monkeypatch.setattr(registry, "registered_measures", dict(registry.registered_measures))
    monkeypatch.setattr(
        catalogue, "registered_perturbations", dict(catalogue.registered_perturbations)
    )
