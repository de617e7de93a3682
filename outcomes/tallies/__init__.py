"""Sharded counters of outcomes by time: what is added to them, and every number that is read from them."""
