"""The catalog in the forms that other tools read: the same bytes for the same catalog (contract 5)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catalog import queries
from catalog.downloads import json_schema, openapi, tools
from catalog.evidence.outlines import Outline
from workspaces.models import Environment

EDITION = "1"  # counts up when the same catalog comes to other bytes, which then need another ETag

Render = Callable[[Environment, str, Sequence[Outline]], Mapping[str, Any]]
"""From an environment, the catalog's revision and its outlines to a document."""

FORMS: Mapping[str, Render] = {
    "openapi": lambda environment, revision, found: openapi.document(title(environment), revision, found),
    "schemas": lambda environment, _, found: json_schema.document(title(environment), found),
    "tools": lambda environment, _, found: tools.document(environment.name, found),
}


@dataclass(frozen=True)
class Download:
    body: bytes
    etag: str


def download(environment: Environment, form: str) -> Download:
    """The catalog as it is now in one of FORMS."""
    texts, revision = queries.outlines(environment)
    outlines = [json.loads(text) for text in texts]
    document = FORMS[form](environment, revision, outlines)
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    return Download(body.encode(), etag_of(environment, form, revision))


def etag(environment: Environment, form: str) -> str:
    """The strong validator of what `download` would give now, without making it."""
    return etag_of(environment, form, queries.catalog_digest(environment, evidence=False))


def etag_of(environment: Environment, form: str, revision: str) -> str:
    content = "\0".join((EDITION, form, title(environment), revision))
    return f'"{hashlib.sha256(content.encode()).hexdigest()}"'


def title(environment: Environment) -> str:
    return f"{environment.workspace.name}, {environment.name}"


def small(content: Mapping[str, Any]) -> Download:
    """What is made as quickly as its validator."""
    body = (json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    return Download(body, f'"{hashlib.sha256(body).hexdigest()}"')
