"""Witness reports in: checked, stored in the inbox, folded into the catalog."""
