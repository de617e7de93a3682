"""The catalog as one JSON document (contract 5), whole and of one moment, however large."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO

from catalog import queries
from workspaces.models import Environment

HELD_IN_MEMORY = 4 * 1024 * 1024
CHUNK = 64 * 1024


@dataclass(frozen=True)
class Rendered:
    """A document with the validator of its bytes. `chunks` can be read once and closes the file behind it."""

    etag: str
    length: int
    head: bytes
    body: IO[bytes]

    def chunks(self) -> Iterator[bytes]:
        with self.body:
            yield self.head
            while chunk := self.body.read(CHUNK):
                yield chunk


def etag(environment: Environment, *, evidence: bool) -> str:
    """The strong validator of the catalog as it is now, without rendering it."""
    return etag_of(queries.catalog_digest(environment, evidence=evidence), evidence)


def render(environment: Environment, *, evidence: bool) -> Rendered:
    """Write all operations to a file first: a failure is an error answer then, never half a document."""
    body = SpooledTemporaryFile(max_size=HELD_IN_MEMORY)  # noqa: SIM115 - the answer closes it when it is sent
    content, revision = hashlib.sha256(), hashlib.sha256()
    for index, (text, document, outline) in enumerate(queries.catalog_texts(environment, evidence=evidence)):
        content.update(document if evidence else outline)
        revision.update(outline)
        body.write(b",\n" if index else b"\n")
        body.write(text.encode())
    body.write(b"\n]}\n")
    length = body.tell()
    body.seek(0)
    head = opening(environment, revision.hexdigest())
    return Rendered(etag_of(content.hexdigest(), evidence), len(head) + length, head, body)


def opening(environment: Environment, revision: str) -> bytes:
    facts = json.dumps({"environment": environment.name, "revision": revision}, ensure_ascii=False)
    return f'{facts[:-1]}, "operations": ['.encode()


def etag_of(digest: str, evidence: bool) -> str:
    return f'"{digest}"' if evidence else f'"{digest}-0"'
