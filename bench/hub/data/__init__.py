"""The data with which benchmarks fill a hub."""
