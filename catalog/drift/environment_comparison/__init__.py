"""The comparison of two environments: how the operations of one differ from those of another."""
