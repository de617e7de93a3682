"""Stores that wait for nothing outside this process: an event loop may call them without a thread."""


def is_in_memory(store: object) -> bool:
    """Return whether a store waits for nothing outside this process, as its attribute `is_in_memory` says."""
    return bool(getattr(store, "is_in_memory", False))
