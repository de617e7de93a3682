"""A package, so that fixtures of its scope, the browser above all, end with its last test."""
