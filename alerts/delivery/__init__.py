"""Deliveries: each event to each target at least once, in order, retried for 24 hours, then a dead letter."""
