"""The queries of downloads: the JSON texts of all operations, and the digests of their contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

from django.db.models import Prefetch
from django.db.models.functions import Coalesce

from affidavit.operations import Identity
from catalog.downloads.operation_names import name_operations, split_name_words
from catalog.evidence.outlines import Outline
from catalog.evidence.unobserved_resets import list_unobserved_bodies
from catalog.models import BaselineReset, Operation, OperationPart
from catalog.operation_queries import BY_PATH, LARGE_TEXTS, visible_operations
from workspaces.models import Environment


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


def find_operation_name(environment: Environment, outline: Outline) -> str:
    """Return the name of an operation in the downloads. It depends on the other operations with a similar path."""
    operation = (outline["method"], outline["path"])
    similar = visible_operations(environment).filter(method__iexact=outline["method"])
    for word in split_name_words(outline["path"]):
        similar = similar.filter(path__icontains=word)
    rivals = [pair for pair in similar.values_list("method", "path") if pair != operation]
    return name_operations([operation, *rivals])[0]
