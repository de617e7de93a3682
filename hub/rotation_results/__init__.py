"""What became of calls since the present signing secret signs."""
