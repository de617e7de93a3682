"""Why broken joins broke, and what to do about it (pure)."""
