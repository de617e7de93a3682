"""The page of one operation: its shapes, the manual overrides in force, and calls of it as code."""
