"""Evaluation: what fires now or would have fired, read from the figures of the three domains."""
