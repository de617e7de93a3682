"""The words of the hub on a page of their own."""
