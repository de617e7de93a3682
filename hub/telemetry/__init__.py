"""The logs, without secrets, and the traces of every process."""
