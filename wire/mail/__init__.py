"""Mails: the connection to the mail server, and their subjects."""
