"""Backups of a hub's database with its key, restoring them, and moving the data to another PostgreSQL."""
