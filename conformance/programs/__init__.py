"""Programs that answer the questions of docs/conformance.md."""
