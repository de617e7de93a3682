"""Read a time from the command line."""

import argparse
import math
from datetime import datetime


def parse_time(text: str) -> float:
    """Return the Unix seconds of a time: a finite number, or ISO 8601 with a zone, such as `2030-01-31T10:00Z`.

    Raises ArgumentTypeError. NaN is refused, because every comparison with it is false. A time without a zone is
    refused, because it could be meant in the zone of this machine or of the hub.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = _parse_iso(text)
    if not math.isfinite(seconds):
        raise argparse.ArgumentTypeError("give Unix seconds, or a time with its zone such as 2030-01-31T10:00Z")
    return seconds


def _parse_iso(text: str) -> float:
    """Return NaN for a text that is no time, or that names no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return moment.timestamp() if moment.tzinfo else math.nan
