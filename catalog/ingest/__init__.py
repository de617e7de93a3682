"""Witness reports are checked, stored in the inbox, and folded into the catalog."""
