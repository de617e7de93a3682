"""Outcomes of conversations, reported to the hub (contract §2)."""
