"""The digests of a catalog, each computed once per change of it: of its documents, outlines and absences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from django.db import connection

from affidavit.operations import Identity
from catalog.downloads.queries import load_unobserved_bodies
from catalog.drift.presence.current_presence import AbsentProperties
from catalog.drift.presence.load_no_longer_seen import load_no_longer_seen
from catalog.models import CatalogRevision
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


def digest_absent(absent: Mapping[Identity, AbsentProperties], unobserved: Mapping[Identity, Sequence[str]]) -> str:
    """Return the digest of the properties that are no longer seen and of unobserved bodies; "" if there are none."""
    lines = [
        json.dumps([*identity, part, pointer, str(last_day)])
        for identity, places in absent.items()
        for (part, pointer), last_day in places.items()
    ]
    lines += [json.dumps([*identity, status]) for identity, statuses in unobserved.items() for status in statuses]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest() if lines else ""
