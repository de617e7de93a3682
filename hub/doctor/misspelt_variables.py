"""Environment variables whose names are almost those of settings."""

from __future__ import annotations

import logging
import os
from difflib import get_close_matches

from hub.doctor.result import Result

log = logging.getLogger("affidavit.settings")
HUB_VARIABLES = ("HUB_BALLAST_MIB", "HUB_DATA_DIR", "HUB_HOST", "HUB_PORT", "HUB_SAMPLE", "HUB_START_EMPTY")
LEAST_LIKENESS = 0.8  # similarity of a misspelt name; names that Kubernetes sets, such as HUB_PORT_80_TCP, are below it


def list_misspelt_names() -> dict[str, str]:
    """Return the variables whose names are almost those of hub variables, each with the name that was probably meant.

    The hub ignores misspelt variables.
    """
    names = sorted(set(os.environ) - set(HUB_VARIABLES))
    alike = {name: get_close_matches(name, HUB_VARIABLES, n=1, cutoff=LEAST_LIKENESS) for name in names}
    return {name: nearest[0] for name, nearest in alike.items() if nearest}


def warn_of_misspelt_names() -> None:
    """Log a line for each misspelt name.

    `up` and `run` call this when they start, because the intended setting has no effect.
    """
    for name, nearest in list_misspelt_names().items():
        log.warning("%s is no setting, and is ignored. Did you mean %s?", name, nearest)


def check_variables() -> Result:
    """Check that no variable has a name that is almost one of HUB_VARIABLES."""
    for name, nearest in list_misspelt_names().items():
        return Result("wrong", f"{name} is no setting, and is ignored.", f"Did you mean {nearest}?")
    return Result("ok", "No misspelt name.")
