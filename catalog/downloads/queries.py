"""The queries of downloads: the JSON texts of all operations, and the digests of their contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from django.db import connection
from django.db.models import Prefetch
from django.db.models.functions import Coalesce

from affidavit.operations import Identity
from catalog.downloads.operation_names import name_operations, split_name_words
from catalog.drift.presence.current_presence import AbsentProperties
from catalog.drift.presence.load_no_longer_seen import load_no_longer_seen
from catalog.evidence.outlines import Outline
from catalog.evidence.unobserved_resets import list_unobserved_bodies
from catalog.models import BaselineReset, CatalogRevision, Operation, OperationPart
from catalog.operation_queries import BY_PATH, LARGE_TEXTS, visible_operations
from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment

DIGESTS = """
    SELECT
        (SELECT changes FROM catalog_catalogrevision WHERE environment_id = %(environment)s),
        encode(sha256(coalesce(string_agg(document_digest, ''::bytea ORDER BY {order}), ''::bytea)), 'hex'),
        encode(sha256(coalesce(string_agg(outline_digest, ''::bytea ORDER BY {order}), ''::bytea)), 'hex')
    FROM catalog_operation WHERE environment_id = %(environment)s AND begun AND shown_under_id IS NULL
""".format(order='path COLLATE "C", method COLLATE "C"')
# While a fold holds the lock of the row, nothing is stored: a later request stores the digests.
STORE_DIGESTS = """
    UPDATE catalog_catalogrevision
    SET digested_changes = changes, document_digest = %(document)s, outline_digest = %(outline)s
    WHERE environment_id IN (
        SELECT environment_id FROM catalog_catalogrevision
        WHERE environment_id = %(environment)s AND changes = %(changes)s FOR UPDATE SKIP LOCKED
    )
"""
STORE_ABSENCE_DIGEST = """
    UPDATE catalog_catalogrevision
    SET absence_changes = changes, absence_digest = %(digest)s
    WHERE environment_id IN (
        SELECT environment_id FROM catalog_catalogrevision
        WHERE environment_id = %(environment)s AND changes = %(changes)s FOR UPDATE SKIP LOCKED
    )
"""


def iterate_operation_texts(environment: Environment, *, evidence: bool) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield the JSON text of every operation with the digests of its document and its outline, all of one snapshot.

    They are sorted by path, then method, as code points.
    """
    text = "document" if evidence else "outline"
    operations = visible_operations(environment).order_by(*BY_PATH)
    return operations.values_list(text, "document_digest", "outline_digest").iterator(chunk_size=200)


def load_catalog(environment: Environment) -> tuple[list[Outline], str]:
    """Return the outlines of all operations, sorted by path and method, and the revision of this catalog."""
    rows = list(visible_operations(environment).order_by(*BY_PATH).values_list("outline", "outline_digest"))
    revision = hashlib.sha256(b"".join(digest for _, digest in rows)).hexdigest()
    return [json.loads(text) for text, _ in rows], revision


def find_catalog_digest(environment: Environment, *, evidence: bool) -> str:
    """Return the SHA-256 over the digests of all operations in the order of the catalog, in hex.

    It is computed once per change of the catalog.
    """
    row = CatalogRevision.objects.filter(environment=environment).first()
    if row is None or row.digested_changes != row.changes:
        document, outline = compute_catalog_digests(environment)
    else:
        document, outline = row.document_digest, row.outline_digest
    return document if evidence else outline


def compute_catalog_digests(environment: Environment) -> tuple[str, str]:
    """Return the digests with and without evidence, and store them unless the catalog changes at this moment."""
    with get_read_connection().cursor() as cursor:
        cursor.execute(DIGESTS, {"environment": environment.pk})
        changes, document, outline = cursor.fetchone()
    digests = {"document": document, "outline": outline}
    with connection.cursor() as cursor:
        cursor.execute(STORE_DIGESTS, {"environment": environment.pk, "changes": changes, **digests})
    return document, outline


def find_absence_digest(environment: Environment) -> str:
    """Return the digest of the properties that are no longer seen and of unobserved bodies; "" if there are none.

    It is computed once per change of the catalog.
    """
    row = CatalogRevision.objects.filter(environment=environment).first()
    if row is None or row.absence_changes != row.changes:
        return compute_absence_digest(environment, row.changes if row else None)
    return row.absence_digest


def compute_absence_digest(environment: Environment, changes: int | None) -> str:
    """Return the digest, and store it if the number of the catalog's changes is still `changes`."""
    digest = digest_absent(load_no_longer_seen(environment), load_unobserved_bodies(environment))
    with connection.cursor() as cursor:
        cursor.execute(STORE_ABSENCE_DIGEST, {"environment": environment.pk, "changes": changes, "digest": digest})
    return digest


def load_unobserved_bodies(environment: Environment) -> dict[Identity, Sequence[str]]:
    """Return the statuses whose bodies were all observed before a baseline reset, by visible operation.

    Operations without any are left out.
    """
    resets = BaselineReset.objects.filter(environment=environment, undone_at=None, pointer="")
    if not (row_ids := set(resets.values_list("operation", flat=True))):
        return {}
    visible_ids = Operation.objects.filter(environment=environment, pk__in=row_ids).values_list(
        Coalesce("shown_under_id", "pk")
    )
    parts = Prefetch("parts", OperationPart.objects.defer("evidence", "absences"))
    members = Operation.objects.defer(*LARGE_TEXTS).prefetch_related(parts, "baseline_resets")
    operations = visible_operations(environment).filter(pk__in=visible_ids)
    rows = operations.defer(*LARGE_TEXTS).prefetch_related(parts, "baseline_resets", Prefetch("shown_here", members))
    bodies = {row.identity: list_unobserved_bodies(row) for row in rows}
    return {identity: statuses for identity, statuses in bodies.items() if statuses}


def digest_absent(absent: Mapping[Identity, AbsentProperties], unobserved: Mapping[Identity, Sequence[str]]) -> str:
    """Return the digest of the properties that are no longer seen and of unobserved bodies; "" if there are none."""
    lines = [
        json.dumps([*identity, part, pointer, str(last_day)])
        for identity, places in absent.items()
        for (part, pointer), last_day in places.items()
    ]
    lines += [json.dumps([*identity, status]) for identity, statuses in unobserved.items() for status in statuses]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest() if lines else ""


def find_operation_name(environment: Environment, outline: Outline) -> str:
    """Return the name of an operation in the downloads. It depends on the other operations with a similar path."""
    operation = (outline["method"], outline["path"])
    similar = visible_operations(environment).filter(method__iexact=outline["method"])
    for word in split_name_words(outline["path"]):
        similar = similar.filter(path__icontains=word)
    rivals = [pair for pair in similar.values_list("method", "path") if pair != operation]
    return name_operations([operation, *rivals])[0]
