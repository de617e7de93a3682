"""The search over everything in an environment."""
