"""Who uses the pages: signing in, members, invitations."""
