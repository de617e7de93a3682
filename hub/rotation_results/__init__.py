"""What became of calls since the present signing secret began to sign."""
