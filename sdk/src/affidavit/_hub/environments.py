"""The environment to which a reporter reports (contract §1)."""

from affidavit._credentials import ENVIRONMENT_VARIABLE, read_variable
from affidavit._errors import ReportError


def require_environment(environment: str | None) -> str | None:
    """Return `environment`, or the value of the environment variable AFFIDAVIT_ENVIRONMENT if `environment` is None.

    None means `production`. Raises ReportError for a name that no hub has: an empty one, one with white space around
    it, such as the line end of a file, and one that is not text.
    """
    name = read_variable(environment, ENVIRONMENT_VARIABLE)
    if name is None or (isinstance(name, str) and name and name == name.strip()):
        return name
    raise ReportError(
        "The environment is empty, not text or has white space around it. "
        f"Give its name; or None for {ENVIRONMENT_VARIABLE}, or production.",
        code="invalid-request",
    )
