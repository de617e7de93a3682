"""The limits of path templates that the hub accepts (contract §4). It refuses a whole report for one that is longer.

The hub has the same limits in `catalog/path_template.py`.
"""

MAX_BYTES = 2000
MAX_SEGMENTS = 100
MAX_PARAMETER_NAME = 100  # characters


def is_too_long(path: str) -> bool:
    """Return whether the hub would refuse a template, which is in ASCII, and the report with it."""
    return len(path) > MAX_BYTES or path.count("/") > MAX_SEGMENTS
