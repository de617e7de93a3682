"""Receive verification reports and add them to tallies."""
