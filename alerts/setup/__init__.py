"""Create, change and delete alerts and targets, each with an entry in the audit log."""
