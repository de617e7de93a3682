"""From requests that pass to witness reports on their way (contract 4)."""
