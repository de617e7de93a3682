"""The pages of the catalog and of one operation."""
