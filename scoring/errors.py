"""The one error of this room that a user can act on."""


class ScoringError(Exception):
    """A reference or a set of predictions that cannot be scored; the message says why."""
