"""Code that several browser tests share: presses of keys, and waiting."""
