"""Code that several benchmarks share: measuring, data, servers."""
