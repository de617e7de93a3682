"""Forms of pages: their choices, and forms that somebody opened before another change."""
