"""/metrics: what a hub counts and times of itself, for Prometheus."""
