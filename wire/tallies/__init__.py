"""Tallies by quarter hour, day and month of UTC: which of them make up a span of time."""
