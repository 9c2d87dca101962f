"""Registry entry of the nearest-neighbour error."""

from __future__ import annotations

from pgdl_measures.base import Measure


def entries() -> list[Measure]:
    """The one measure of this family."""
    return [
        Measure(
            "nearest_neighbour_error",
            "error of the nearest training example on each of the others",
            "pgdl_measures.neighbours.nearest:nearest_neighbour_error",
            family="training data",
            definition="share of x whose nearest other x' (Euclidean) has another label",
            source="Cover and Hart 1967",
            cost="weights",
            use=(
                "To compare data sets: it is the same for all models of one, and says how hard "
                "its classes are to tell apart."
            ),
        )
    ]
