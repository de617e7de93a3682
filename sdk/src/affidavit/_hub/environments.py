"""The environment to which a reporter reports (contract §1)."""

from affidavit._credentials import ENVIRONMENT_VARIABLE, QUOTATION_MARKS, has_invisible_ends, read_variable
from affidavit._errors import ReportError


def require_environment(environment: str | None) -> str | None:
    """Return `environment`, or the value of the environment variable AFFIDAVIT_ENVIRONMENT if `environment` is None.

    None means `production`. Raises ReportError for a name that no hub has: one that is empty, is not text, or has
    something around it. That may be the line end of a file, or the quotation marks that Docker leaves in a variable.
    """
    name = read_variable(environment, ENVIRONMENT_VARIABLE)
    if name is None or (isinstance(name, str) and name and not _is_wrapped(name)):
        return name
    raise ReportError(
        "The environment is empty, not text or has white space or quotation marks around it. "
        f"Give its name; or None for {ENVIRONMENT_VARIABLE}, or production.",
        code="invalid-request",
    )


def _is_wrapped(name: str) -> bool:
    return has_invisible_ends(name) or name.startswith(QUOTATION_MARKS)
