"""Conversations and outcome reports in: one statement a batch."""
