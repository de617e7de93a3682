"""The pages of alerts, for admins: what is watched, whom it notifies, and the log of deliveries."""
