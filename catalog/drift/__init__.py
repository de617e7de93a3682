"""What changed in an operation, and the pages that list it."""
