"""Sign in with a password or by a link, and sign out."""
