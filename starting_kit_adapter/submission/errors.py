"""What is wrong with a submission."""

from __future__ import annotations

from pgdl_measures.errors import PgdlError


class SubmissionError(PgdlError):
    """A submission that cannot be unpacked or run; the message names it."""


class OutOfTimeError(SubmissionError):
    """A submission that was stopped because it did not return in time."""
