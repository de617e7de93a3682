"""Requests of API keys that the hub refused, counted by key, endpoint, error code and hour."""
