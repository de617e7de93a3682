"""The words in paths and in names of properties: which of them an API uses, and which are values of its users."""
