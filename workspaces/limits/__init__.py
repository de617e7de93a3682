"""Rate limits: token buckets that all processes share."""
