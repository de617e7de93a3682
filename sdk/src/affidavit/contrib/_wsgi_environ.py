"""What a WSGI environ says of a request (PEP 3333)."""

from typing import Any

Environ = dict[str, Any]

_FOUND = "affidavit.route"


def decoded(text: str) -> str:
    """PEP 3333 carries bytes as Latin-1. What is not UTF-8 stays apart, and so equals no signed path."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def prefix(environ: Environ) -> str:
    """Where the app is mounted."""
    return decoded(environ.get("SCRIPT_NAME", ""))


def leads_nowhere(environ: Environ) -> bool:
    """Whether Flask looked for a route and found none: a stranger's path, or one to redirect."""
    return getattr(environ.get("werkzeug.request"), "url_rule", "") is None


def rule(environ: Environ) -> str | None:
    """The route that Flask, or whatever uses Werkzeug's router, has found.

    Flask forgets it at the end; asked for once, it is still there for a middleware further out.
    """
    found = getattr(getattr(environ.get("werkzeug.request"), "url_rule", None), "rule", None)
    if isinstance(found, str):
        environ[_FOUND] = found
    return environ.get(_FOUND)
