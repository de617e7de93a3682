"""The pages of outcomes and of one key."""
