"""What the stores of nonces and those of deliveries share (contract §3)."""
