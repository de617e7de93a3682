"""Test vectors for implementations of contract §3 in any language: see README.md."""
