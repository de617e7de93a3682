"""Settings that make tests run alike on every machine: examples have no time limit, and test names never vary."""

import os
import sys
from typing import Any

from hypothesis import HealthCheck, settings

LONGEST_NAME = 100  # the most characters of one argument in a test's name

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("mutants", settings.get_profile("any machine"), max_examples=25, derandomize=True)
settings.load_profile("mutants" if "MUTANT_UNDER_TEST" in os.environ else "any machine")  # mutmut sets this


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Name a test by the name of its argument if the value is long or differs from run to run.

    Every worker must use the same names. Keys and intents are random, and compressed bytes contain the time.
    """
    is_random = isinstance(val, str) and val.startswith(("gak_", "pk_", "gas_", "eyJ"))
    is_long = isinstance(val, str) and len(val) > LONGEST_NAME
    return argname if is_random or is_long or isinstance(val, bytes) else None


def subprocess_environment(**variables: str) -> dict[str, str]:
    """Return the environment variables with which another Python process finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **variables}
