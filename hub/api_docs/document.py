"""The OpenAPI document of the API of the hub."""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256

from drf_spectacular.generators import SchemaGenerator

from affidavit import __version__


@cache
def render_document() -> bytes:
    """Return the document; it costs a third of a second, and stays the same as long as the process lives."""
    generator = SchemaGenerator(api_version=__version__)  # type: ignore[no-untyped-call]  # the library has no types
    schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]  # the library has no types
    return json.dumps(schema, ensure_ascii=False, indent=2).encode()


@cache
def compute_etag() -> str:
    return f'"{sha256(render_document()).hexdigest()[:32]}"'
