"""Conversations and outcome reports in: one statement per batch."""
