"""Hosted verification and the inspector."""
