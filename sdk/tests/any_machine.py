"""What makes a test run alike on every machine: no example fails over its time, and test names do not vary."""

import os
import sys
from typing import Any

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Name a test by the argument and not by what differs in it: every worker must agree.

    Keys and intents are random, and compressed bytes hold the time.
    """
    is_random = isinstance(val, str) and val.startswith(("gak_", "pk_", "gas_", "eyJ"))
    return argname if is_random or isinstance(val, bytes) else None


def subprocess_environment(**variables: str) -> dict[str, str]:
    """Return the environment in which another Python finds the modules that this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
