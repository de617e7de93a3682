"""Invite people to a workspace, and let them accept."""
