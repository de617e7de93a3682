"""`affidavit catalog pull`: the catalog into a file, downloaded again only when it has changed."""

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

from affidavit._cli._hub import Undelivered, UsageError, add_hub_options, hub_and_key
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import HubAnswer, bad_answer, read_refusal
from affidavit._hub.transport import DEFAULT_BASE_URL, DEFAULT_TIMEOUT, USER_AGENT

DESCRIPTION = """Download the catalog of an environment into a file. Exit status 0: the file was up to date already;
3: it is new or has changed. The ETag is kept beside it, in FILE.etag."""

UNCHANGED, CHANGED = 0, 3
FORMS = {
    "catalog": "/api/catalog",
    "openapi": "/api/catalog/openapi.json",
    "schemas": "/api/catalog/schemas.json",
    "tools": "/api/catalog/tools.json",
}


def add_to(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    catalog = commands.add_parser("catalog", help="download what an API looks like")
    actions = catalog.add_subparsers(metavar="ACTION", required=True)
    parser = actions.add_parser("pull", help="into a file, if it has changed", description=DESCRIPTION)
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it")
    parser.add_argument("--form", choices=sorted(FORMS), default="catalog", help="default catalog")
    parser.add_argument("--evidence", action="store_true", help="form catalog with counts, which any traffic changes")
    add_hub_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """UNCHANGED or CHANGED. Raises UsageError or Undelivered; the file is replaced whole or not at all."""
    _, key = hub_and_key(options)
    copy = _Copy(options.file)
    hub = urlsplit(options.hub or os.environ.get("AFFIDAVIT_HUB") or DEFAULT_BASE_URL)
    answer = _get(hub, _target(options), {KEY_HEADER: key, **copy.condition()})
    same = answer.status == 304
    if not same:
        etag = _checked(answer, key)
        try:
            same = copy.replace(answer.body, etag)
        except OSError as error:
            raise UsageError(f"{options.file} cannot be written: {error.strerror}.") from None
    print(f"{options.file} {'is up to date' if same else 'has changed'}.")
    return UNCHANGED if same else CHANGED


@dataclass(frozen=True)
class _Copy:
    """The file as it was last pulled, and beside it the ETag of that with a digest of its bytes."""

    file: Path

    @property
    def beside(self) -> Path:
        return self.file.with_name(f"{self.file.name}.etag")

    def condition(self) -> dict[str, str]:
        """`If-None-Match` while the file still has the bytes that the ETag is of."""
        with suppress(OSError, ValueError):
            etag, digest = self.beside.read_text("ascii").split()
            if digest == _digest(self.file.read_bytes()):
                return {"If-None-Match": etag}
        return {}

    def replace(self, body: bytes, etag: str) -> bool:
        """Put these bytes in the file's place; whether it had the same already."""
        same = self.file.exists() and self.file.read_bytes() == body
        fresh = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            fresh.write_bytes(body)
            fresh.replace(self.file)
        finally:
            fresh.unlink(missing_ok=True)
        self.beside.write_text(f"{etag}\n{_digest(body)}\n", "ascii")
        return same


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _target(options: argparse.Namespace) -> str:
    query = {"environment": options.environment} if options.environment else {}
    if options.form == "catalog" and not options.evidence:
        query["evidence"] = "0"
    return FORMS[options.form] + (f"?{urlencode(query)}" if query else "")


def _get(hub: SplitResult, target: str, headers: dict[str, str]) -> HubAnswer:
    """One GET. Redirects are not followed: the key is for this hub alone."""
    sent = {"Accept": "application/json", "User-Agent": USER_AGENT, **headers}
    with closing(_connection(hub)) as connection:
        try:
            connection.request("GET", hub.path.rstrip("/") + target, headers=sent)
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return HubAnswer(response.status, told, response.read())
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            detail = f"No whole answer from the hub: {reason}. Check that it runs there, then pull again."
            raise Undelivered(f"{detail} The file is as it was.") from None


def _connection(hub: SplitResult) -> http.client.HTTPConnection:
    """`hub` is checked already: http or https, with a host."""
    host, port = str(hub.hostname), hub.port
    if hub.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=DEFAULT_TIMEOUT, context=context)
    return http.client.HTTPConnection(host, port, timeout=DEFAULT_TIMEOUT)


def _checked(answer: HubAnswer, key: str) -> str:
    """The ETag of an answer that is a catalog; Undelivered for every other."""
    if answer.status != 200:
        raise Undelivered(f"{read_refusal(answer, key)} The file is as it was.")
    etag = answer.headers.get("etag", "")
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    if not is_json or etag.split() != [etag] or not etag.isascii():
        raise Undelivered(f"{bad_answer(answer.status)} The file is as it was.")
    return etag
