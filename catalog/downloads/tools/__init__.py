"""The operations of the catalog as tools for assistants."""
