"""The audit log: what is recorded, and its page."""
