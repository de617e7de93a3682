"""The HTTP manners that every endpoint shares (contract 1)."""
