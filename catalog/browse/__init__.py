"""The pages of the catalog: the list of operations, and one operation."""
