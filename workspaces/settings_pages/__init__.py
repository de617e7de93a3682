"""The pages of settings: keys, secrets, environments, members, audit log; for admins."""
