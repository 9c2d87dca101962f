"""The errors of scoring that a user can act on."""


class ScoringError(Exception):
    """A reference or a set of predictions that cannot be scored; the message says why."""


class ExceededError(ScoringError):
    """A task whose predictions say EXCEEDED: its time budget ran out before its last model."""
