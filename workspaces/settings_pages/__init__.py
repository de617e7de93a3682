"""The pages of settings: keys, secrets, environments, members, retention, audit log; for admins."""
