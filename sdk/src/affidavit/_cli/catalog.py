"""`affidavit catalog pull`: download the catalog into a file, if it has changed."""

import argparse
import hashlib
import http.client
import os
import ssl
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from affidavit._cli._hub import Undelivered, UsageError, add_hub_options, read_hub_options
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import HubAnswer, bad_answer, read_refusal
from affidavit._hub.transport import DEFAULT_TIMEOUT, USER_AGENT, resolve_base_url

_DESCRIPTION = """Download the catalog of an environment into a file. Exit status 0: the file was up to date already;
3: it is new or has changed. The ETag is kept beside it, in FILE.etag."""

_UNCHANGED, _CHANGED = 0, 3
_FORMS = {
    "catalog": "/api/catalog",
    "openapi": "/api/catalog/openapi.json",
    "schemas": "/api/catalog/schemas.json",
    "tools": "/api/catalog/tools.json",
    "mcp": "/api/catalog/mcp.json",
}


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    catalog = commands.add_parser("catalog", help="download what an API looks like")
    actions = catalog.add_subparsers(metavar="ACTION", required=True)
    parser = actions.add_parser("pull", help="into a file, if it has changed", description=_DESCRIPTION)
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it")
    parser.add_argument("--form", choices=sorted(_FORMS), default="catalog", help="default catalog")
    parser.add_argument("--evidence", action="store_true", help="form catalog with counts, which any traffic changes")
    add_hub_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Return the exit status. Raises UsageError or Undelivered; the file is replaced completely or not at all."""
    _, key = read_hub_options(options)
    copy = _LocalCopy(options.file)
    hub = urlsplit(resolve_base_url(options.hub))
    answer = _get(hub, _build_target(options), {KEY_HEADER: key, **copy.build_condition()})
    is_unchanged = answer.status == 304
    if not is_unchanged:
        etag = _require_etag(answer, key)
        try:
            is_unchanged = copy.replace(answer.body, etag)
        except OSError as error:
            raise UsageError(f"{options.file} cannot be written: {error.strerror}.") from None
    print(f"{options.file} {'is up to date' if is_unchanged else 'has changed'}.")
    return _UNCHANGED if is_unchanged else _CHANGED


@dataclass(frozen=True)
class _LocalCopy:
    """The file as last pulled, and a second one with its ETag and a digest of its bytes."""

    file: Path

    @property
    def etag_file(self) -> Path:
        return self.file.with_name(f"{self.file.name}.etag")

    def build_condition(self) -> dict[str, str]:
        """Return `If-None-Match` if the file still has the bytes of its ETag."""
        with suppress(OSError, ValueError):
            etag, digest = self.etag_file.read_text("ascii").split()
            if digest == _hash(self.file.read_bytes()):
                return {"If-None-Match": etag}
        return {}

    def replace(self, body: bytes, etag: str) -> bool:
        """Replace the file's bytes. Return whether they are unchanged."""
        is_unchanged = self.file.exists() and self.file.read_bytes() == body
        new_file = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            new_file.write_bytes(body)
            new_file.replace(self.file)
        finally:
            new_file.unlink(missing_ok=True)
        self.etag_file.write_text(f"{etag}\n{_hash(body)}\n", "ascii")
        return is_unchanged


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _build_target(options: argparse.Namespace) -> str:
    query = {"environment": options.environment} if options.environment else {}
    if options.form == "catalog" and not options.evidence:
        query["evidence"] = "0"
    return _FORMS[options.form] + (f"?{urlencode(query)}" if query else "")


def _get(hub: SplitResult, target: str, headers: dict[str, str]) -> HubAnswer:
    """Send one GET. Redirects are not followed: the key is for this hub alone."""
    request_headers = {"Accept": "application/json", "User-Agent": USER_AGENT, **headers}
    with closing(_connect(hub)) as connection:
        try:
            connection.request("GET", hub.path.rstrip("/") + target, headers=request_headers)
            response = connection.getresponse()
            response_headers = {name.lower(): value for name, value in response.getheaders()}
            return HubAnswer(response.status, response_headers, response.read())
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            detail = f"No whole answer from the hub: {reason}. Check that it runs there, then pull again."
            raise Undelivered(f"{detail} The file is as it was.") from None


def _connect(hub: SplitResult) -> http.client.HTTPConnection:
    """Return a connection to `hub`, which is valid: http or https, with a host."""
    host, port = str(hub.hostname), hub.port
    if hub.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=DEFAULT_TIMEOUT, context=context)
    return http.client.HTTPConnection(host, port, timeout=DEFAULT_TIMEOUT)


def _require_etag(answer: HubAnswer, key: str) -> str:
    """Return the ETag of an answer that is a catalog; Undelivered for any other."""
    if answer.status != 200:
        raise Undelivered(f"{read_refusal(answer, key)} The file is as it was.")
    etag = answer.headers.get("etag", "")
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    if not is_json or etag.split() != [etag] or not etag.isascii():
        raise Undelivered(f"{bad_answer(answer.status)} The file is as it was.")
    return etag
