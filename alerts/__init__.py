"""Alerts: conditions that people have watched, the events that fired, and their deliveries (contract §6)."""
