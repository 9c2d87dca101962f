"""Measures that predict the generalization gap of a trained classifier.

`complexity("gi_intra_l0")(model, dataset)` is all that a user needs; `complexities([...])` computes
several and shares their work; `measures()` lists what there is.
"""

from pgdl_measures.errors import MeasureError, PgdlError
from pgdl_measures.registry import complexities, complexity, measures, register

__all__ = ["MeasureError", "PgdlError", "complexities", "complexity", "measures", "register"]
