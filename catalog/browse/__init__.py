"""The pages of the catalog: the list of operations, one operation, and one property."""
