"""The error of the zoo builder."""

from pgdl_measures.errors import PgdlError


class ZooError(PgdlError):
    """A zoo cannot be built or added to as asked; the message says why and what would do."""
