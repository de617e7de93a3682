"""Signed intents: minted, opened, and verified once (contract §3)."""
