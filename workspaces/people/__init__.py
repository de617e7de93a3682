"""The people who use the pages: signing in, members, invitations."""
