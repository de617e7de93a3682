"""How often stores of nonces and deliveries delete what has expired, and how much of it at once."""

PRUNED_AT_ONCE = 500
"""The most rows that one pruning deletes, so that no request waits long for it."""
PRUNED_EVERY = 250
"""Writes between two prunings: half of `PRUNED_AT_ONCE`, so that pruning always keeps up."""
