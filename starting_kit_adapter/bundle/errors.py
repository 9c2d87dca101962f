"""What cannot be put into a bundle, and why."""

from __future__ import annotations

from pgdl_measures.errors import PgdlError


class BundleError(PgdlError):
    """A bundle that cannot be made as it was asked for."""
