"""Make repeated requests harmless."""
