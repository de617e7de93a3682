"""One tool call: everything that is stored of it."""
