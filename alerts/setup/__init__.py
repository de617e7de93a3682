"""What people set: alerts and targets, changed and recorded in the audit log."""
