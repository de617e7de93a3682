"""Targets: whom alerts notify, at which address, and how it is known to be a safe one."""
