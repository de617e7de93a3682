"""The test vectors of contract §3, and running any program against them (docs/conformance.md)."""
