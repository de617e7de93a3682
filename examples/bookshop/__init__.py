"""A small bookshop and an assistant that calls it: all three contracts at work. See README.md."""
