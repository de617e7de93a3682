"""A small bookshop that an assistant may use, and the assistant: all three contracts at work. See README.md."""
