"""Alerts: what is worth telling somebody, and the deliveries that tell it (contract 6)."""
