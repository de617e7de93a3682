"""The evidence of operations and of their parts, and what is shown of it."""
