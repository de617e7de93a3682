"""Talking to the hub: one request and its answer, keys, the thread and the queue of what goes out (contract 1)."""
