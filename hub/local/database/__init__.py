"""Prepare the database of a hub, be it the embedded one or another: what it must be, its tables, their rights."""
