"""Move broken joins to the environment that knows their conversations, and undo a move."""
