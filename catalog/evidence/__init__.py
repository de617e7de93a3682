"""The evidence of one part, and what is shown of it. Pure."""
