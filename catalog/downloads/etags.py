"""The revisions and the strong ETags of downloads (contract §5), without rendering them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from affidavit.operations import Identity
from catalog.downloads.catalog_digests import find_absence_digest, find_catalog_digest
from catalog.rules.hint_rules import load_hints
from workspaces.models import Environment

EDITION = "11"  # increased when a document is rendered differently, so that its ETag changes

Hints = Mapping[Identity, Mapping[str, bool]]
"""The values of tools' hints that manual overrides set, by operation."""

FORMATS_WITH_HINTS = frozenset({"mcp"})


def compute_catalog_etag(environment: Environment, *, evidence: bool) -> str:
    """Return the ETag of the catalog as it is now, without rendering it."""
    return format_catalog_etag(environment, find_catalog_digest(environment, evidence=evidence), evidence)


def format_catalog_etag(environment: Environment, digest: str, evidence: bool) -> str:
    format_name = "catalog" if evidence else "catalog without evidence"
    return hash_etag("\0".join((EDITION, format_name, environment.name, digest)).encode())


def compute_format_etag(environment: Environment, format_name: str) -> str:
    """Return the ETag of what `render_format` would render now, without rendering it."""
    catalog_digest = find_catalog_digest(environment, evidence=False)
    revision = combine_revision(catalog_digest, find_absence_digest(environment))
    return hash_format_etag(environment, format_name, revision, load_format_hints(environment, format_name))


def combine_revision(catalog_digest: str, absence_digest: str) -> str:
    """Return the digest of the catalog, or a digest of both digests if anything is absent or unobserved."""
    digests = f"{catalog_digest} {absence_digest}"
    return hashlib.sha256(digests.encode()).hexdigest() if absence_digest else catalog_digest


def load_format_hints(environment: Environment, format_name: str) -> Hints:
    return load_hints(environment) if format_name in FORMATS_WITH_HINTS else {}


def hash_format_etag(environment: Environment, format_name: str, revision: str, hints: Hints) -> str:
    hint_lines = sorted(f"{identity} {hint} {value}" for identity in hints for hint, value in hints[identity].items())
    return hash_etag("\0".join((EDITION, format_name, title(environment), revision, *hint_lines)).encode())


def hash_etag(content: bytes) -> str:
    return f'"{hashlib.sha256(content).hexdigest()}"'


def title(environment: Environment) -> str:
    return f"{environment.workspace.name}, {environment.name}"
