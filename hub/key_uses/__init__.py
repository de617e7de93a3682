"""What each API key of a workspace does, as far as it is recorded."""
