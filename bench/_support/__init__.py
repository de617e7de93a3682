"""What several benchmarks share: measuring, data, servers."""
