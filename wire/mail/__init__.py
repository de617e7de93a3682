"""The connection to the mail server."""
