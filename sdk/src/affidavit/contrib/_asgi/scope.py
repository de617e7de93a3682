"""Facts of a request from its ASGI scope."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from affidavit._shapes.media_types import name_utf8

Scope = dict[str, Any]

INTENT_HEADER = b"x-service-intent"


class Entrance(NamedTuple):
    """A request as it enters a middleware, before another middleware or a mount inside changes its scope.

    scope_path, root: `path` and `root_path` of the scope.
    base: the part of the mount prefix that no mount of Starlette took from the path.
    app: the app inside.
    """

    scope_path: str
    root: str
    base: str
    app: object

    @property
    def path(self) -> str:
        """The path with its mount prefix."""
        return join_path(str(self.scope_path), str(self.root))


def read_headers(headers: Iterable[tuple[bytes, bytes]], names: AbstractSet[bytes]) -> dict[bytes, str]:
    """Return the headers of these names, which are in lower case.

    Repeated headers are joined, so that a repeated intent is rejected.
    """
    values: dict[bytes, str] = {}
    for key, value in headers:
        name = key.lower()
        if name in names:
            text = value.decode("latin-1")
            values[name] = f"{values[name]},{text}" if name in values else text
    return values


def read_as_utf8(scope: Scope) -> None:
    """Let the app decode a call that has an intent as the verifier does: see `name_utf8`.

    This has to be done where the call enters: a framework may read headers and body before its view is verified.
    """
    values = read_headers(scope["headers"], frozenset({INTENT_HEADER, b"content-type"}))
    if INTENT_HEADER in values and ";" in values.get(b"content-type", ""):
        scope["headers"] = [
            (name, name_utf8(value.decode("latin-1")).encode("latin-1") if name.lower() == b"content-type" else value)
            for name, value in scope["headers"]
        ]


def read_path(scope: Scope) -> str:
    """Return the path with its mount prefix, whether the server includes it (as ASGI demands) or not."""
    return join_path(str(scope["path"]), str(scope.get("root_path", "")))


def note_entrance(scope: Scope, app: object) -> Entrance:
    """Return what a middleware around `app` knows of a request before it calls the app."""
    root: str = scope.get("root_path", "")
    return Entrance(scope["path"], root, scope.get("app_root_path", root), app)


def join_path(path: str, root: str) -> str:
    """Return the path with its mount prefix.

    root: `root_path` of the scope before an inner mount changed it.
    """
    if not root:
        return path
    prefix = root.rstrip("/")
    return path if path == prefix or path.startswith(prefix + "/") else prefix + path
