"""The catalog of an environment as documents (contract §5): the same bytes for the same catalog."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from catalog.downloads.absent_properties import drop_marked, mark_outlines
from catalog.downloads.catalog_digests import digest_absent
from catalog.downloads.etags import (
    Hints,
    combine_revision,
    format_catalog_etag,
    hash_etag,
    hash_format_etag,
    load_format_hints,
    title,
)
from catalog.downloads.openapi import build_openapi_document
from catalog.downloads.queries import iterate_operation_texts, load_catalog, load_unobserved_bodies
from catalog.downloads.schemas.json_schema import build_schema_document
from catalog.downloads.tools.mcp import build_mcp_document
from catalog.downloads.tools.tool_definitions import (
    build_anthropic_document,
    build_openai_document,
    build_tools_document,
)
from catalog.drift.presence.load_no_longer_seen import load_no_longer_seen
from catalog.evidence.outlines import Outline
from wire.postgresql.snapshot import read_snapshot
from workspaces.models import Environment

CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True)
class CatalogContent:
    """The input of every format.

    environment: the name of the environment.
    title: the title of the document.
    revision: the revision of the catalog, of what is no longer seen in it, and of its unobserved bodies.
    outlines: with marks on the properties that are no longer seen and on unobserved bodies.
    current_outlines: without these properties.
    hints: the hints of tools, for formats that show them.
    """

    environment: str
    title: str
    revision: str
    outlines: Sequence[Outline]
    hints: Hints

    @property
    def current_outlines(self) -> list[Outline]:
        return [*map(drop_marked, self.outlines)]


FORMATS: Mapping[str, Callable[[CatalogContent], Mapping[str, Any]]] = {
    "openapi": lambda content: build_openapi_document(content.title, content.revision, content.outlines),
    "schemas": lambda content: build_schema_document(content.title, content.outlines),
    "tools": lambda content: build_tools_document(content.environment, content.current_outlines),
    "tools for openai": lambda content: build_openai_document(content.environment, content.current_outlines),
    "tools for anthropic": lambda content: build_anthropic_document(content.environment, content.current_outlines),
    "mcp": lambda content: build_mcp_document(content.current_outlines, content.hints),
}


@dataclass(frozen=True)
class Document:
    """A document, compressed, with its strong ETag.

    length: the number of bytes before compression.
    """

    etag: str
    length: int
    gzip_bytes: bytes

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.gzip_bytes)

    def read_chunks(self) -> Iterator[bytes]:
        with gzip.GzipFile(fileobj=BytesIO(self.gzip_bytes)) as body:
            while chunk := body.read(CHUNK_BYTES):
                yield chunk


class Packer:
    """Compress a document while it is written, so that only the compressed bytes are in memory."""

    def __init__(self) -> None:
        self.length = 0
        self._gzip_buffer = BytesIO()
        self._body = gzip.GzipFile(fileobj=self._gzip_buffer, mode="wb", compresslevel=1, mtime=0)

    def write(self, text: str) -> None:
        self.length += self._body.write(text.encode())

    def finish(self) -> bytes:
        self._body.close()
        return self._gzip_buffer.getvalue()


def render_catalog(environment: Environment, *, evidence: bool) -> Document:
    """Render the catalog of one moment. It is complete before it is sent, so that no failure sends half of it."""
    body = Packer()
    content, revision = hashlib.sha256(), hashlib.sha256()
    with read_snapshot():  # rows are read a few at a time in a transaction only
        for index, (text, document, outline) in enumerate(iterate_operation_texts(environment, evidence=evidence)):
            content.update(document if evidence else outline)
            revision.update(outline)
            body.write(",\n" if index else "\n")
            body.write(text)
    body.write("\n]}\n")
    head = Packer()
    head.write(render_head(environment, revision.hexdigest()))
    etag = format_catalog_etag(environment, content.hexdigest(), evidence)
    return Document(etag, head.length + body.length, head.finish() + body.finish())


def render_head(environment: Environment, revision: str) -> str:
    facts = json.dumps({"environment": environment.name, "revision": revision}, ensure_ascii=False)
    return f'{facts[:-1]}, "operations": ['


def render_format(environment: Environment, format_name: str) -> Document:
    """Render the catalog as it is now in one of FORMATS."""
    outlines, revision = load_catalog(environment)
    absent, unobserved = load_no_longer_seen(environment), load_unobserved_bodies(environment)
    revision = combine_revision(revision, digest_absent(absent, unobserved))
    hints = load_format_hints(environment, format_name)
    marked_outlines = mark_outlines(outlines, absent, unobserved)
    content = CatalogContent(environment.name, title(environment), revision, marked_outlines, hints)
    body = Packer()
    for text in iterate_json(FORMATS[format_name](content)):
        body.write(text)
    body.write("\n")
    return Document(hash_format_etag(environment, format_name, revision, hints), body.length, body.finish())


def render_small_document(content: Mapping[str, Any]) -> Document:
    """Render a document that is so small that its ETag is computed from the rendered text."""
    text = f"{render_json(content)}\n"
    body = Packer()
    body.write(text)
    return Document(hash_etag(text.encode()), body.length, body.finish())


def iterate_json(value: Any, depth: int = 2) -> Iterator[str]:
    """Yield the text of a JSON value in pieces: to render all at once would keep other threads waiting."""
    if not depth or not isinstance(value, dict | list):
        yield render_json(value)
        return
    yield "{" if isinstance(value, dict) else "["
    for index, item in enumerate(value):
        yield "," if index else ""
        if isinstance(value, dict):
            yield f"{render_json(item)}:"
            item = value[item]
        yield from iterate_json(item, depth - 1)
    yield "}" if isinstance(value, dict) else "]"


def render_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
