"""The audit log: what is recorded, how it is described, and the kinds of its actions."""
