"""Make repeated requests harmless, and encrypt what is stored for that."""
