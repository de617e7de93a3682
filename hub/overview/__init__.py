"""The overview of a workspace."""
