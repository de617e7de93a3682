"""Protect a handler: verify the intent, answer each call once, report verifications to the hub."""
