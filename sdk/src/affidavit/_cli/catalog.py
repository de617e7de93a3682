"""`affidavit catalog pull`: download the catalog into a file, if it has changed."""

import argparse
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from affidavit._cli._download import NOT_FROM_A_HUB, HubReader, read_document, replace_file, require_regular_file
from affidavit._cli._hub_options import Undelivered, add_hub_options
from affidavit._hub.responses import HubAnswer

_DESCRIPTION = """Download the catalog of an environment into a file. Exit status 0: the file was up to date already;
3: it is new or has changed. The ETag is kept beside it, in FILE.etag."""

_UNCHANGED, _CHANGED = 0, 3
_NOT_MODIFIED = 304
_FORMS = {  # with the address of each, and a member that each has
    "catalog": ("/api/catalog", "operations"),
    "openapi": ("/api/catalog/openapi.json", "paths"),
    "schemas": ("/api/catalog/schemas.json", "$defs"),
    "tools": ("/api/catalog/tools.json", "tools"),
    "mcp": ("/api/catalog/mcp.json", "tools"),
}


def add_parser(commands: Any) -> None:
    """Add this command to argparse's subcommands."""
    catalog = commands.add_parser("catalog", help="download what an API looks like")
    actions = catalog.add_subparsers(metavar="ACTION", required=True)
    parser = actions.add_parser(
        "pull", help="download the catalog into a file, if it has changed", description=_DESCRIPTION
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it")
    parser.add_argument("--form", choices=sorted(_FORMS), default="catalog", help="default catalog")
    parser.add_argument(
        "--evidence", action="store_true", help="include counts in the form catalog; any traffic changes them"
    )
    add_hub_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Return the exit status. Raises UsageError or Undelivered; the file is replaced completely or not at all."""
    require_regular_file(options.file)
    hub = HubReader.from_options(options)
    copy = _LocalCopy(options.file)
    address, member = _FORMS[options.form]
    try:
        answer = hub.get(address + _build_query(options), copy.build_condition())
        etag = "" if answer.status == _NOT_MODIFIED else _require_etag(answer, hub.key, member)
    except Undelivered as error:
        raise Undelivered(f"{error} The file is unchanged.") from None
    is_unchanged = not etag or copy.replace(answer.body, etag)
    print(f"{options.file} {'is up to date' if is_unchanged else 'has changed'}.")
    return _UNCHANGED if is_unchanged else _CHANGED


@dataclass(frozen=True)
class _LocalCopy:
    """The file that was pulled last, and a second file with its ETag and a digest of its bytes."""

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
        is_unchanged = self._holds(body)
        replace_file(self.file, body)
        replace_file(self.etag_file, f"{etag}\n{_hash(body)}\n".encode("ascii"))
        return is_unchanged

    def _holds(self, body: bytes) -> bool:
        with suppress(OSError):
            return self.file.read_bytes() == body
        return False


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _build_query(options: argparse.Namespace) -> str:
    query = {"environment": options.environment} if options.environment else {}
    if options.form == "catalog" and not options.evidence:
        query["evidence"] = "0"
    return f"?{urlencode(query)}" if query else ""


def _require_etag(answer: HubAnswer, key: str, member: str) -> str:
    """Return the ETag of an answer that is a whole catalog. Raises Undelivered for any other."""
    read_document(answer, key, member)
    etag = answer.headers.get("etag", "")
    if etag.split() != [etag] or not etag.isascii():
        raise Undelivered(NOT_FROM_A_HUB)
    return etag
