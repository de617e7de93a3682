"""Observe requests as they pass, and send witness reports (contract §4)."""
