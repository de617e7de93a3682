"""The signs for and against a path segment being data, and their weights (contract §4)."""
