"""Verification reports in, and the tallies that they add to."""
