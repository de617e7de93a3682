"""What settings pages say from the rows of all domains: uses of keys, last data, calls after a rotation."""
