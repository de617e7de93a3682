"""Read documents of any size from a hub, and write files completely or not at all."""

import argparse
import http.client
import os
import shutil
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from affidavit._cli._hub_options import Undelivered, UsageError, read_hub_options
from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.base_url import resolve_base_url
from affidavit._hub.connection import build_connection
from affidavit._hub.responses import HubAnswer, parse_answer, read_refusal
from affidavit._hub.transport import DEFAULT_TIMEOUT, USER_AGENT, describe_failure

_LONGEST_DOWNLOAD = 3_600.0
"""Seconds for a document of any size."""
_PIECE = 1024 * 1024
_STREAMS = ("/dev/std", "/dev/fd/", "/proc/")
NOT_FROM_A_HUB = "The answer does not come from a hub. Check that --hub leads to the hub."


@dataclass(frozen=True)
class HubReader:
    """Reads one hub with one key. Redirects are not followed: the key is for this hub alone."""

    hub: SplitResult
    key: str

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> "HubReader":
        """Return a reader for the options of a command. Raises UsageError if they are invalid."""
        _, key = read_hub_options(options)
        return cls(urlsplit(resolve_base_url(options.hub)), key)

    def get(self, target: str, headers: Mapping[str, str] | None = None) -> HubAnswer:
        """Send one GET. Raises Undelivered if no whole answer came."""
        own_headers = {"Accept": "application/json", "User-Agent": USER_AGENT, KEY_HEADER: self.key}
        with closing(self._connect()) as connection:
            try:
                path = self.hub.path.rstrip("/") + target
                connection.request("GET", path, headers={**own_headers, **(headers or {})})
                response = connection.getresponse()
                response_headers = {name.lower(): value for name, value in response.getheaders()}
                return HubAnswer(response.status, response_headers, _read_body(response))
            except (OSError, http.client.HTTPException) as error:
                reason = describe_failure(error, DEFAULT_TIMEOUT)
                detail = f"No whole answer from {self.hub.geturl()}: {reason}, then try again."
                raise Undelivered(detail) from None

    def get_document(self, target: str, member: str) -> dict[str, Any]:
        """Return the JSON object at `target`. Raises Undelivered, see `read_document`."""
        return read_document(self.get(target), self.key, member)

    def _connect(self) -> http.client.HTTPConnection:
        """Return a connection to the hub, whose address is valid: http or https, with a host."""
        context = ssl.create_default_context() if self.hub.scheme == "https" else None
        return build_connection(
            str(self.hub.hostname), self.hub.port, DEFAULT_TIMEOUT, context, longest_answer=_LONGEST_DOWNLOAD
        )


def _read_body(response: http.client.HTTPResponse) -> bytes:
    """Return the whole body, read in pieces: a length that is not true must not reserve memory."""
    body = b"".join(iter(partial(response.read, _PIECE), b""))
    if response.length:
        raise http.client.IncompleteRead(b"")
    return body


def read_document(answer: HubAnswer, key: str, member: str) -> dict[str, Any]:
    """Return the JSON object of a 200. Raises Undelivered for any other answer, and for an object without `member`."""
    if answer.status != 200:
        raise Undelivered(str(read_refusal(answer, key)))
    with suppress(ReportError):
        document = parse_answer(answer)
        if isinstance(document, dict) and member in document:
            return document
    raise Undelivered(NOT_FROM_A_HUB)


def require_regular_file(path: Path) -> None:
    """Raise UsageError for a folder, a device or a pipe, and for `-`, which is meant to be standard output.

    So is `/dev/stdout`, even if it leads to a regular file: a second file beside it would be in `/dev`.
    """
    if str(path) == "-":
        raise UsageError(f"{path} cannot be written: name a file; - is not standard output here.")
    is_stream = os.path.abspath(path).startswith(_STREAMS)
    if is_stream or (os.path.exists(path) and not os.path.isfile(path)):
        raise UsageError(f"{path} cannot be written: it is no regular file.")


def replace_file(path: Path, body: bytes) -> None:
    """Replace the bytes of a file, which keeps its permissions. Raises UsageError if it cannot be written.

    A symbolic link stays: the file to which it leads is replaced.
    """
    try:
        file = Path(os.path.realpath(path))
        new_file = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            new_file.write_bytes(body)
            if file.exists():
                shutil.copymode(file, new_file)
            new_file.replace(file)
        finally:
            new_file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from None
