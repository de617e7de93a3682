"""The environment to which a reporter reports (contract §1)."""

from affidavit._credentials import ENVIRONMENT_VARIABLE, read_variable
from affidavit._errors import ReportError


def require_environment(environment: str | None) -> str | None:
    """Return `environment`, or the value of the environment variable AFFIDAVIT_ENVIRONMENT if `environment` is None.

    None means `production`. Raises ReportError for an empty name, and for one that is not text: the hub has neither.
    """
    name = read_variable(environment, ENVIRONMENT_VARIABLE)
    if name is None or (isinstance(name, str) and name):
        return name
    detail = f"The environment is empty or not text. Give its name; or None for {ENVIRONMENT_VARIABLE}, or production."
    raise ReportError(detail, code="invalid-request")
