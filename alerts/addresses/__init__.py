"""The addresses of webhooks: their form, and whether the hub may safely send to the host."""
