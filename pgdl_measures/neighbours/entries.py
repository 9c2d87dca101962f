"""Registry entry of the nearest-neighbour error."""

from __future__ import annotations

from pgdl_measures.base import Measure


def entries() -> list[Measure]:
    """The one measure of this family."""
    return [
        Measure(
            "nearest_neighbour_error",
            "leave-one-out error of the nearest training example",
            "pgdl_measures.neighbours.nearest:nearest_neighbour_error",
            family="training data",
            definition="share of x whose nearest other x' (Euclidean) has another label",
            source="Cover and Hart 1967",
            cost="weights",
            use=(
                "To compare data sets by how hard they are; it is the same for all models of a "
                "data set."
            ),
        )
    ]
