"""The WSGI environment in which Django gets a request (PEP 3333)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

PIECE = 64 * 1024  # bytes of a file that are read at once
Environ = dict[str, Any]


def build_environ(scope: Mapping[str, Any], body: bytes) -> Environ:
    """Return the WSGI environment of a request whose body has been read (PEP 3333)."""
    server, client = scope.get("server") or ("", 0), scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.file_wrapper": WholeFile,
    }
    for name, value in scope["headers"]:
        if b"_" in name or name in {b"content-length", b"transfer-encoding"}:
            continue  # an underscore would look like a dash in a key of the environment; the body's length is set above
        key = name.decode("latin-1").upper().replace("-", "_")
        key = key if key == "CONTENT_TYPE" else f"HTTP_{key}"
        text = value.decode("latin-1")
        environ[key] = f"{environ[key]},{text}" if key in environ else text
    return environ


class WholeFile:
    """The `wsgi.file_wrapper` in which Django's FileResponse passes a file instead of its pieces (PEP 3333)."""

    def __init__(self, file: Any, block_size: int = PIECE) -> None:
        self.file, self.block_size = file, block_size

    @property
    def path(self) -> str | None:
        """Return the file's path, if it is one that the server can open itself."""
        name = getattr(self.file, "name", None)
        return name if isinstance(name, str) and os.path.isabs(name) else None

    def __iter__(self) -> Iterator[bytes]:
        while piece := self.file.read(self.block_size):
            yield piece

    def close(self) -> None:
        self.file.close()
