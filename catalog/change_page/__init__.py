"""One drift change: what it means for callers, and what people decided about it."""
