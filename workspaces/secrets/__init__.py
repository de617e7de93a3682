"""Signing secrets: issued, rotated, revoked."""
