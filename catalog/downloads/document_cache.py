"""Compute each download once per change of the catalog, and keep it for all processes."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS, transaction

from catalog.downloads.documents import Document
from catalog.models import KeptDocument
from wire.postgresql.named_lock import hold_named_lock
from workspaces.models import Environment

MAX_KEPT_BYTES = 64 * 1024 * 1024  # compressed


def get_or_render(
    environment: Environment, name: str, *, compute_etag: Callable[[], str], render: Callable[[], Document]
) -> Document:
    """Return the kept document. If the catalog has changed since, render the document again and keep the new one.

    One request at a time renders a document; requests that come meanwhile wait for it. A document of more than
    MAX_KEPT_BYTES is rendered for each request.
    """
    if document := find_document(environment, name, compute_etag()):
        return document
    with transaction.atomic():
        lock_document(environment, name)
        # On the primary: a replica may lack a document that was kept a moment ago.
        if document := find_document(environment, name, compute_etag(), using=DEFAULT_DB_ALIAS):
            return document
        document = render()
        keep_document(environment, name, document)
    return document


def find_document(environment: Environment, name: str, etag: str, *, using: str | None = None) -> Document | None:
    row = KeptDocument.objects.using(using).filter(environment=environment, name=name, etag=etag).first()
    return Document(row.etag, row.length, bytes(row.body)) if row else None


def lock_document(environment: Environment, name: str) -> None:
    hold_named_lock(f"catalog {name} {environment.pk}")


def keep_document(environment: Environment, name: str, document: Document) -> None:
    if len(document.gzip_bytes) > MAX_KEPT_BYTES or not environment.try_hold():
        return
    KeptDocument.objects.update_or_create(
        environment=environment,
        name=name,
        defaults={"etag": document.etag, "length": document.length, "body": document.gzip_bytes},
    )
