"""Show which operations of the catalog are verified by backends."""
