"""Which conversations led to what, told to the hub (contract 2)."""
