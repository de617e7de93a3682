"""Benchmarks. Each module prints its figures as ratios to a peer or a limit that is measured in the same run."""
