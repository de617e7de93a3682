"""What pages, downloads and the readiness check read of the catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import F, Max, Min, Prefetch, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Collate

from affidavit.operations import nameless
from catalog.browse.filters import DriftFilters, Filters
from catalog.downloads.operation_names import name_words, operation_names
from catalog.models import Drift, Operation, OperationVersion, TemplateRule, WitnessReport
from catalog.rules.resolution import Rule, Rules
from wire.period import Period
from workspaces.models import Environment

BY_CODE_POINT = "C"
PATH, METHOD = Collate("path", BY_CODE_POINT), Collate("method", BY_CODE_POINT)
ORDERS = {
    "path": (PATH.asc(), METHOD.asc()),
    "observations": ("-observations", PATH.asc(), METHOD.asc()),
    "properties": ("-properties", PATH.asc(), METHOD.asc()),
    "first": ("-first_seen_at", PATH.asc(), METHOD.asc()),
    "last": ("-last_seen_at", PATH.asc(), METHOD.asc()),
}
TEXTS = ("document", "outline", "search")  # large, and needed by few
LISTED = (
    "method", "path", "observations", "statuses", "properties", "undecided", "first_seen_at", "last_seen_at",
    "unknowns", "drifted_at",
)  # fmt: skip
DIGEST = """
    SELECT encode(sha256(coalesce(
        string_agg({column}, ''::bytea ORDER BY path COLLATE "C", method COLLATE "C"), ''::bytea)), 'hex')
    FROM catalog_operation WHERE environment_id = %s AND begun AND shown_under_id IS NULL
"""


@dataclass(frozen=True)
class Overview:
    """What the overview says of the catalog; `seen_in_range` counts operations last seen since it began."""

    operations: int
    observations: int
    seen_in_range: int
    new_in_range: int
    latest_seen_at: datetime | None


def shown(environment: Environment) -> QuerySet[Operation]:
    """The operations that have begun and that no rule shows elsewhere; the others are kept, not shown (contract 4)."""
    return Operation.objects.filter(environment=environment, begun=True, shown_under=None)


def listed(environment: Environment, period: Period, filters: Filters) -> QuerySet[Operation]:
    """The operations that a list with these filters shows, in its order, without their evidence."""
    found = shown(environment)
    for word in filters.words:
        found = found.filter(search__icontains=word)
    if filters.method:
        found = found.filter(method=filters.method)
    if filters.statuses:
        found = found.filter(statuses__has_any_keys=filters.statuses)
    match filters.show:
        case "unknown":
            found = found.filter(unknowns__gt=0)
        case "drifted":
            found = found.filter(drifted_at__gte=period.start)
        case "unseen":
            found = found.filter(last_seen_at__lt=period.start)
    return found.order_by(*ORDERS[filters.sort]).only(*LISTED)


def methods(environment: Environment) -> list[str]:
    return list(shown(environment).order_by("method").values_list("method", flat=True).distinct())


def operation(environment: Environment, method: str, path: str, *, as_reported: bool = False) -> Operation | None:
    """One operation with its parts, by any names of its parameters, or the one that it is shown under.

    as_reported: itself, although it is shown elsewhere.
    """
    named = Operation.objects.filter(environment=environment, method=method, key=nameless(path))
    place = F("pk") if as_reported else Coalesce("shown_under_id", "pk")
    found = Operation.objects.filter(environment=environment, begun=True, pk__in=named.values_list(place))
    return found.defer(*TEXTS).prefetch_related("parts", "baseline_resets", "map_rules", members()).first()


def members() -> Prefetch:
    """What is shown under an operation, with what is needed of it."""
    rows = Operation.objects.defer(*TEXTS).order_by("method", "key").prefetch_related("parts", "baseline_resets")
    return Prefetch("shown_here", rows)


def template_rules(environment: Environment) -> Rules:
    """The rules by hand that stand: under which template what was reported is shown."""
    columns = ("pk", "method", "source", "target", "matching")
    return Rules(Rule(*row) for row in standing_template_rules(environment).values_list(*columns))


def standing_template_rules(environment: Environment) -> QuerySet[TemplateRule]:
    return TemplateRule.objects.filter(environment=environment, reverted_at=None)


def tool_name(environment: Environment, outline: Mapping[str, Any]) -> str:
    """The name of an operation in the downloads, which depends on those that would be called the same."""
    own = outline["method"], outline["path"]
    found = shown(environment).filter(method__iexact=own[0])
    for word in name_words(own[1]):
        found = found.filter(path__icontains=word)
    alike = [own, *(pair for pair in found.values_list("method", "path") if pair != own)]
    return operation_names(alike)[0]


def catalog_texts(environment: Environment, *, evidence: bool) -> Iterator[tuple[str, bytes, bytes]]:
    """Every operation's JSON text with its two digests, document first, by path then method; one snapshot."""
    text = "document" if evidence else "outline"
    rows = shown(environment).order_by(*ORDERS["path"]).values_list(text, "document_digest", "outline_digest")
    return rows.iterator(chunk_size=200)


def outlines(environment: Environment) -> tuple[list[str], str]:
    """Every operation's outline as JSON text by path then method, and the catalog's revision; of one moment."""
    rows = list(shown(environment).order_by(*ORDERS["path"]).values_list("outline", "outline_digest"))
    return [text for text, _ in rows], hashlib.sha256(b"".join(digest for _, digest in rows)).hexdigest()


def catalog_digest(environment: Environment, *, evidence: bool) -> str:
    """SHA-256 over the digests of all operations in the order of the catalog, in hex."""
    column = "document_digest" if evidence else "outline_digest"
    with connection.cursor() as cursor:
        cursor.execute(DIGEST.format(column=column), [environment.pk])
        (digest,) = cursor.fetchone()
    return digest


def drift(environment: Environment, period: Period, filters: DriftFilters) -> QuerySet[Drift]:
    """What was found to have changed in this time, the latest first."""
    found = Drift.objects.filter(environment=environment, operation__begun=True)
    found = found.filter(at__gte=period.start, at__lt=period.end)
    if filters.breaking:
        found = found.exclude(breaks="")
    if filters.kind:
        found = found.filter(kind=filters.kind)
    for word in filters.words:
        found = found.filter(Q(operation__path__icontains=word) | Q(pointer__icontains=word))
    return with_operation(found)


def latest_drift(environment: Environment, limit: int) -> Sequence[Drift]:
    """For the overview: the latest changes, each with its operation."""
    return with_operation(Drift.objects.filter(environment=environment, operation__begun=True))[:limit]


def with_operation(found: QuerySet[Drift]) -> QuerySet[Drift]:
    named = [f"operation__{column}" for column in ("method", "path")]
    own = [field.name for field in Drift._meta.concrete_fields]
    return found.select_related("operation").only(*own, *named).order_by("-at", "-id")


def versions(operation: Operation) -> QuerySet[OperationVersion]:
    """From the latest on, without their outlines."""
    return operation.versions.defer("outline")


def version_outlines(operation: Operation, *numbers: int) -> list[Mapping[str, Any]] | None:
    """The outlines of these versions, in their order; None where one does not exist."""
    found = dict(operation.versions.filter(number__in=numbers).values_list("number", "outline"))
    return [json.loads(found[number]) for number in numbers] if found.keys() >= set(numbers) else None


def outline_digests(environment: Environment) -> dict[tuple[str, str], tuple[str, bytes]]:
    """Path and digest of every operation's outline, by method and nameless path."""
    rows = shown(environment).values_list("method", "key", "path", "outline_digest")
    return {(method, key): (path, bytes(digest)) for method, key, path, digest in rows}


def outlines_of(environment: Environment, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    """The outlines of these operations."""
    rows = shown(environment).filter(method__in={method for method, _ in keys}, key__in={key for _, key in keys})
    return {(method, key): json.loads(text) for method, key, text in rows.values_list("method", "key", "outline")}


def parked(environment: Environment) -> QuerySet[WitnessReport]:
    reports = WitnessReport.objects.filter(environment=environment, dead_lettered_at__isnull=False)
    return reports.order_by("-dead_lettered_at", "-id").defer("sums")


def unfolded() -> QuerySet[WitnessReport]:
    return WitnessReport.objects.filter(folded_at=None, dead_lettered_at=None)


def environments_with_unfolded() -> list[int]:
    return list(unfolded().order_by("environment_id").values_list("environment_id", flat=True).distinct())


def oldest_unfolded(now: datetime) -> float | None:
    """Seconds that the oldest report has waited to be folded; None when none waits."""
    oldest = unfolded().aggregate(oldest=Min("received_at"))["oldest"]
    return max((now - oldest).total_seconds(), 0.0) if oldest else None


def overview(environment: Environment, period: Period) -> Overview:
    found = shown(environment)
    totals = found.aggregate(observations=Sum("observations"), latest=Max("last_seen_at"))
    return Overview(
        operations=found.count(),
        observations=int(totals["observations"] or 0),
        seen_in_range=found.filter(last_seen_at__gte=period.start).count(),
        new_in_range=found.filter(first_seen_at__gte=period.start, first_seen_at__lt=period.end).count(),
        latest_seen_at=totals["latest"],
    )
