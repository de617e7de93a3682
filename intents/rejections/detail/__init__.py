"""The page of one rejection: its usual fix, and everything else that is known of its tool call."""
