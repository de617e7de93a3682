"""API keys: issued, looked up, revoked."""
