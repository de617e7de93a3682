"""Targets: whom alerts notify, at which address, and whether the hub may safely send to it."""
