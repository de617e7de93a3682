"""Which operations of the catalog backends verify."""
