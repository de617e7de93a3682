"""Deliver each event to each of its targets, in order: retry for 24 hours, then keep the delivery as a dead letter."""
