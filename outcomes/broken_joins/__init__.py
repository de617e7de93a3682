"""Reported outcomes whose conversation is not known: why, and how to move them to where it is."""
