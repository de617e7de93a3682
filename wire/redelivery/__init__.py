"""Make repeated requests harmless, and encrypt the answers that are stored for them."""
