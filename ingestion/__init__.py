"""Running measures over a corpus of trained models: its layout, its models, its data.

`ingestion.evaluate(corpus, measures, out)` is `pgdl run` as a function.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingestion.run.evaluate import evaluate

__all__ = ["evaluate"]


def __getattr__(name: str) -> Any:
    # Imported on first use: most modules of this package are needed without it.
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.run.evaluate"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
