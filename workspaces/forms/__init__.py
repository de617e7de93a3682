"""Forms of pages: their choices, a new workspace, and forms that somebody opened before another change."""
