"""Sums of outcomes by time, and what is read from them."""
