"""The catalog of an environment as documents (contract 5): the same bytes for the same catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from catalog.downloads.json_schema import build_schema_document
from catalog.downloads.openapi import build_openapi_document
from catalog.downloads.queries import compute_catalog_digest, iterate_operation_texts, load_catalog
from catalog.downloads.tools import build_tools_document
from catalog.evidence.outlines import Outline
from workspaces.models import Environment

MAX_BYTES_IN_MEMORY = 4 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
EDITION = "1"  # increase it when the same catalog is rendered differently, so that its ETag changes

BuildDocument = Callable[[Environment, str, Sequence[Outline]], Mapping[str, Any]]
"""Takes an environment, the catalog's revision and its outlines; returns a document."""

FORMATS: Mapping[str, BuildDocument] = {
    "openapi": lambda environment, revision, outlines: build_openapi_document(title(environment), revision, outlines),
    "schemas": lambda environment, _, outlines: build_schema_document(title(environment), outlines),
    "tools": lambda environment, _, outlines: build_tools_document(environment.name, outlines),
}


@dataclass(frozen=True)
class Document:
    """A document in memory, with its strong validator."""

    body: bytes
    etag: str


@dataclass(frozen=True)
class StreamedDocument:
    """A document in a file, with its strong validator. `read_chunks` works once, and closes the file."""

    etag: str
    length: int
    head: bytes
    body: IO[bytes]

    def read_chunks(self) -> Iterator[bytes]:
        with self.body:
            yield self.head
            while chunk := self.body.read(CHUNK_BYTES):
                yield chunk


def render_catalog(environment: Environment, *, evidence: bool) -> StreamedDocument:
    """Render the whole catalog as of one moment.

    All operations are written to a file first, so that a failure is an error answer and never half a document.
    """
    body = SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY)  # noqa: SIM115 - the answer closes it when it is sent
    content, revision = hashlib.sha256(), hashlib.sha256()
    for index, (text, document, outline) in enumerate(iterate_operation_texts(environment, evidence=evidence)):
        content.update(document if evidence else outline)
        revision.update(outline)
        body.write(b",\n" if index else b"\n")
        body.write(text.encode())
    body.write(b"\n]}\n")
    length = body.tell()
    body.seek(0)
    head = render_head(environment, revision.hexdigest())
    return StreamedDocument(format_catalog_etag(content.hexdigest(), evidence), len(head) + length, head, body)


def render_head(environment: Environment, revision: str) -> bytes:
    facts = json.dumps({"environment": environment.name, "revision": revision}, ensure_ascii=False)
    return f'{facts[:-1]}, "operations": ['.encode()


def compute_catalog_etag(environment: Environment, *, evidence: bool) -> str:
    """Return the validator of the catalog as it is now, without rendering it."""
    return format_catalog_etag(compute_catalog_digest(environment, evidence=evidence), evidence)


def format_catalog_etag(digest: str, evidence: bool) -> str:
    return f'"{digest}"' if evidence else f'"{digest}-0"'


def render_format(environment: Environment, format_name: str) -> Document:
    """Render the catalog as it is now in one of FORMATS."""
    outlines, revision = load_catalog(environment)
    body = render_json(FORMATS[format_name](environment, revision, outlines))
    return Document(body, hash_format_etag(environment, format_name, revision))


def compute_format_etag(environment: Environment, format_name: str) -> str:
    """Return the validator of what `render_format` would render now, without rendering it."""
    return hash_format_etag(environment, format_name, compute_catalog_digest(environment, evidence=False))


def hash_format_etag(environment: Environment, format_name: str, revision: str) -> str:
    return hash_etag("\0".join((EDITION, format_name, title(environment), revision)).encode())


def render_small_document(content: Mapping[str, Any]) -> Document:
    """Render a document so small that its ETag is computed from the whole."""
    body = render_json(content)
    return Document(body, hash_etag(body))


def render_json(content: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(content, ensure_ascii=False, separators=(',', ':'))}\n".encode()


def hash_etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'


def title(environment: Environment) -> str:
    return f"{environment.workspace.name}, {environment.name}"
