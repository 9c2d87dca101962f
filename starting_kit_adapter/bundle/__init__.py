"""Submission bundles: a measure, or a combination of measures, as a zip that the kit runs."""
