"""Reported outcomes whose conversation is not known: why, and how to move them to the environment that knows it."""
