"""Requests to the hub and their answers, API keys, the background thread and its unsent reports (contract §1)."""
