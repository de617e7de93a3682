"""Changes of operations: how a fold finds them, and the pages that show them."""
