"""Links that show one page, read-only, to somebody without an account."""
