"""Minting, and the confirmation gate in front of it."""
