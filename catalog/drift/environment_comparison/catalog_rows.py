"""The operations of an environment as a comparison of environments reads them: their paths, digests and outlines."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

from catalog.drift.presence.operation_presence import OperationKey
from catalog.evidence.outlines import Outline
from catalog.operation_queries import visible_operations
from workspaces.models import Environment


class CatalogRow(NamedTuple):
    """The columns of an operation that a comparison of environments reads.

    digest: the digest of its outline.
    """

    path: str
    digest: bytes
    observations: int


def load_catalog_rows(environment: Environment) -> dict[OperationKey, CatalogRow]:
    rows = visible_operations(environment).values_list("method", "key", "path", "outline_digest", "observations")
    return {(method, key): CatalogRow(path, bytes(digest), count) for method, key, path, digest, count in rows}


def load_outlines(environment: Environment, keys: Collection[OperationKey]) -> Mapping[OperationKey, Outline]:
    """Return the outlines of these operations.

    The result can contain other operations, which have the method of one member of `keys` and the template of another.
    """
    operations = visible_operations(environment).filter(
        method__in={method for method, _ in keys}, key__in={key for _, key in keys}
    )
    rows = operations.values_list("method", "key", "outline")
    return {(method, key): json.loads(text) for method, key, text in rows}
