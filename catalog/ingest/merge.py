"""Sums to rows and back: a sum is merged into every operation that it touches, by one read and one write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from affidavit.operations import DailySums, Identity, OperationSum, OperationSums, Part
from catalog import queries
from catalog.drift import record
from catalog.drift.record import Folded
from catalog.evidence.parts import Maps, map_rules_of, mapped
from catalog.evidence.projection import project
from catalog.evidence.sums import facts, identity_of, own_counts, own_sum, shown_sum, together
from catalog.ingest.late_data import Late, put_in_place, shown_late
from catalog.models import PART_IDENTITY, Drift, Operation, OperationPart, OperationVersion
from catalog.rules.queries import load_template_rules
from catalog.rules.resolution import Rules
from workspaces.models import Environment

OPERATIONS_AT_ONCE = 100  # bounds the memory and the length of a statement
IDENTITY = ["environment", "method", "key"]
SUMMED = [field.name for field in Operation._meta.concrete_fields if field.name not in {"id", *IDENTITY}]

Stored = Mapping[Identity, Operation]


def merge_into_catalog(environment: Environment, daily: DailySums, *, now: datetime) -> None:
    """Add `daily` to the catalog, with versions and drift. The caller holds the environment's lock."""
    rules = load_template_rules(environment)
    sums, late = put_in_place(environment, daily)
    for touched in batches(sums, rules):
        merge_some(environment, touched, rules, late, now=now)


def batches(sums: OperationSums, rules: Rules) -> Iterator[Mapping[Identity, OperationSum]]:
    """A few operations at once; what is shown in one place stays together, so that it is summed and compared once."""
    batch: dict[Identity, OperationSum] = {}
    by_place = sorted(((rules.place(identity), identity, summed) for identity, summed in sums), key=itemgetter(0, 1))
    for _, group in groupby(by_place, key=itemgetter(0)):
        batch |= {identity: summed for _, identity, summed in group}
        if len(batch) >= OPERATIONS_AT_ONCE:
            yield batch
            batch = {}
    if batch:
        yield batch


def merge_some(
    environment: Environment, touched: Mapping[Identity, OperationSum], rules: Rules, late: Late, *, now: datetime
) -> None:
    stored = stored_rows(environment, {*touched, *map(rules.place, touched)})
    shown = shown_folds(environment, touched, stored, rules)
    for fold in shown.values():
        fold.late = shown_late(fold.before, late) if fold.before else {}
    save(list(shown.values()), now=now)
    save(hidden_folds(environment, touched, stored, shown, rules), now=now)


def shown_folds(
    environment: Environment, touched: Mapping[Identity, OperationSum], stored: Stored, rules: Rules
) -> dict[Identity, Folded]:
    """By the places where what came is shown."""
    came: dict[Identity, dict[Identity, OperationSum]] = {}
    for identity, added in touched.items():
        came.setdefault(rules.place(identity), {})[identity] = added
    return {
        place: folded(environment, place, stored.get(place), arrived[place])
        if not rules.speak_of(place)
        else folded_together(environment, place, stored.get(place), arrived, rules)
        for place, arrived in came.items()
    }


def folded(environment: Environment, identity: Identity, stored: Operation | None, added: OperationSum) -> Folded:
    """What came for a template of which no rule speaks."""
    total = added
    if stored is not None and (before := own_sum(stored)):
        total = before
        total.add(added)
    return Folded(stored, *row_of(environment, identity, stored, total), total, added)


def folded_together(
    environment: Environment,
    place: Identity,
    stored: Operation | None,
    arrived: Mapping[Identity, OperationSum],
    rules: Rules,
) -> Folded:
    """What came for templates that a rule shows in one place, its own perhaps among them."""
    parts = [(identity.key, added) for identity, added in arrived.items()]
    before = shown_sum(stored, rules) if stored else None
    added = together(place, parts, rules)
    total = together(place, [*([(place.key, before)] if before else []), *parts], rules)
    row, maps = row_of(environment, place, stored, total)
    row.reported_facts = own_facts(place, stored, arrived.get(place))
    return Folded(stored, row, maps, total, added, own=arrived.get(place) or OperationSum(0, 0))


def own_facts(place: Identity, stored: Operation | None, added: OperationSum | None) -> Mapping[str, Any]:
    """What `Operation.own` keeps of a place where a rule shows more."""
    before = own_counts(stored) if stored else None
    came = added and replace(added, evidence={})
    own = together(place, [(place.key, one) for one in (before, came) if one], Rules())
    return facts(own) if own else {}


def hidden_folds(
    environment: Environment,
    touched: Mapping[Identity, OperationSum],
    stored: Stored,
    shown: Mapping[Identity, Folded],
    rules: Rules,
) -> list[Folded]:
    """What is stored under templates that are shown elsewhere."""
    folds = []
    for identity, added in touched.items():
        if (place := rules.place(identity)) != identity:
            before = stored.get(identity)
            fold = folded_together(environment, identity, before, {identity: added}, rules)
            fold.row.shown_under = shown[place].row
            folds.append(fold)
    return folds


def row_of(
    environment: Environment, identity: Identity, stored: Operation | None, total: OperationSum
) -> tuple[Operation, Maps]:
    """A row that shows this sum, and what it shows as maps."""
    evidence, maps = mapped(total.evidence, map_rules_of(stored) if stored else {})
    row = operation_row(environment, identity, replace(total, evidence=evidence))
    if stored is not None:
        row.epoch, row.shown_from = stored.epoch, stored.shown_from
    return row, maps


def save(folds: Sequence[Folded], *, now: datetime) -> None:
    """Write rows, parts, versions and drift of these folds. Where a row is shown is stored before."""
    drift = record.drift_of(folds, now=now)
    rows = [fold.row for fold in folds]
    Operation.objects.bulk_create(rows, update_conflicts=True, unique_fields=IDENTITY, update_fields=SUMMED)
    parts = [part_row(fold, part) for fold in folds for part in fold.added.evidence]
    OperationPart.objects.bulk_create(
        parts, update_conflicts=True, unique_fields=PART_IDENTITY, update_fields=["evidence", "absences"]
    )
    OperationVersion.objects.bulk_create([record.version_row(fold, now=now) for fold in folds if fold.is_new_version])
    Drift.objects.bulk_create(drift)


def part_row(fold: Folded, part: Part) -> OperationPart:
    return OperationPart(
        operation=fold.row,
        part=part.name,
        status=part.status,
        epoch=fold.row.epoch,
        evidence=fold.evidence_of_epoch(part).to_state(),
        absences=fold.silences[part][0],
    )


def stored_rows(environment: Environment, wanted: Collection[Identity]) -> dict[Identity, Operation]:
    """What the catalog holds of these operations; those it does not know are absent."""
    rows = Operation.objects.filter(
        environment=environment,
        method__in={identity.method for identity in wanted},
        key__in={identity.key for identity in wanted},
    )
    rows = rows.defer(*queries.LARGE_TEXTS).prefetch_related(
        "parts", "baseline_resets", "map_rules", queries.prefetch_members()
    )
    found = {identity_of(row): row for row in rows}
    return {identity: row for identity, row in found.items() if identity in wanted}


def operation_row(environment: Environment, identity: Identity, summed: OperationSum) -> Operation:
    return Operation(
        environment=environment,
        method=identity.method,
        key=identity.key,
        first_seen_at=datetime.fromtimestamp(summed.first, UTC),
        last_seen_at=datetime.fromtimestamp(summed.last, UTC),
        **summed.to_facts(),
        **asdict(project(identity, summed)),
    )
