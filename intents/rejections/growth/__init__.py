"""Since when more calls are rejected, and which reasons are new or grew (pure)."""
