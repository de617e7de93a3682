"""One conversation: everything that is stored of it."""
