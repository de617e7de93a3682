"""Show operations anew after a decision by hand: another outline is a version, marked as such, and never drift."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from django.db import connection

from affidavit.operations import Identity, OperationSum
from catalog import queries
from catalog.evidence.parts import map_rules_of, mapped
from catalog.evidence.projection import project
from catalog.evidence.sums import facts_of_row, identity_of, shown_sum
from catalog.models import BaselineReset, Operation, OperationVersion
from catalog.rules.resolution import Rules
from workspaces.models import Environment


def lock_environment(environment: Environment) -> None:
    """Keep folds and other decisions away from this environment's operations until the transaction ends."""
    environment.hold()
    lock_operations(environment)


def lock_operations(environment: Environment) -> None:
    """Let one fold or decision at a time work on an environment until the transaction ends: it reads what it writes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"catalog.fold {environment.pk}"])


def show_again(environment: Environment, rows: Collection[int], rules: Rules, *, now: datetime) -> None:
    """Project these rows again under the rules and the fresh starts that stand. The caller holds the environment."""
    for row in with_evidence(environment, rows):
        settle(row, rules)
    for row in with_evidence(environment, rows):
        show(row, rules, now=now)


def with_evidence(environment: Environment, rows: Collection[int]) -> Iterable[Operation]:
    found = Operation.objects.filter(environment=environment, pk__in=rows).order_by("pk").defer(*queries.LARGE_TEXTS)
    return found.prefetch_related(
        "parts", "map_rules", "baseline_resets__through__operation", queries.prefetch_members()
    )


def settle(row: Operation, rules: Rules) -> None:
    """Which of its fresh starts hold where it is shown now."""
    starts = list(row.baseline_resets.all())
    for start in starts:
        start.in_reach = reaches(start, row, rules)
    BaselineReset.objects.bulk_update(starts, ["in_reach"])
    row.shown_from = max((start.epoch for start in starts if start.is_active and not start.part), default=0)
    row.save(update_fields=["shown_from"])


def reaches(start: BaselineReset, row: Operation, rules: Rules) -> bool:
    """Whether it was for this row, or for one that this is shown under by rules that stood then."""
    if start.through is None:
        return True
    for rule in rules.way(identity_of(row)):
        if rule.number > start.newest_rule:
            return False
        if Identity(row.method, rule.key) == identity_of(start.through.operation):
            return True
    return False


def show(row: Operation, rules: Rules, *, now: datetime) -> None:
    summed = shown_sum(row, rules)
    row.reported_facts = dict(facts_of_row(row)) if rules.speak_of(identity_of(row)) else None
    if summed is None:
        tell_nothing(row)
    else:
        summed.evidence, _ = mapped(summed.evidence, map_rules_of(row))
        tell(row, summed)
    if row.begun and row.shown_under_id is None and row.outline != latest_outline(row):
        row.version += 1
        OperationVersion.objects.create(
            operation=row, number=row.version, at=now, since=now, observations=row.observations, outline=row.outline,
            by_hand=True,
        )  # fmt: skip
    row.save()


def tell(row: Operation, summed: OperationSum) -> None:
    row.first_seen_at = datetime.fromtimestamp(summed.first, UTC)
    row.last_seen_at = datetime.fromtimestamp(summed.last, UTC)
    for name, value in (summed.to_facts() | asdict(project(identity_of(row), summed))).items():
        setattr(row, name, value)


def tell_nothing(row: Operation) -> None:
    """A rule made this row, and nothing is shown under it any more."""
    row.begun, row.observations = False, 0
    row.statuses, row.names, row.types, row.undecided = {}, [], [], {}


def latest_outline(row: Operation) -> str | None:
    return row.versions.values_list("outline", flat=True).first()
