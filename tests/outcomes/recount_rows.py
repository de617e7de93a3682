"""Recount tallies from the stored rows by brute force, to compare them with the stored tallies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db.models import Max, Min, Sum

from outcomes.models import ApiKeyTally, Conversation, Outcome, OutcomeKey, Tally
from workspaces.models import Environment

COLUMNS = ("outcomes", "broken", "reports", "reached", "conversations")
Tallies = Mapping[tuple[str, str, datetime], tuple[int, ...]]


def find_bucket_start(moment: datetime, grain: str) -> datetime:
    """Return the start of the UTC quarter hour ("q"), day ("d") or month ("m") of a moment."""
    moment = moment.astimezone(UTC).replace(second=0, microsecond=0)
    if grain == "q":
        return moment.replace(minute=moment.minute - moment.minute % 15)
    return moment.replace(hour=0, minute=0, **({"day": 1} if grain == "m" else {}))


def recount(environment: Environment) -> Tallies:
    counts: dict[tuple[str, str, datetime], Counter[str]] = defaultdict(Counter)

    def add(key: str, moment: datetime, **numbers: int) -> None:
        for grain in "qdm":
            for label in {key, ""}:
                counts[grain, label, find_bucket_start(moment, grain)].update(numbers)

    for conversation in Conversation.objects.filter(environment=environment, started_at__isnull=False):
        add("", conversation.started_at, conversations=1)
    for outcome in Outcome.objects.filter(environment=environment).select_related("conversation"):
        kind = "broken" if outcome.broken else "outcomes"
        add(outcome.outcome_key, outcome.first_reported_at, **{kind: 1}, reports=outcome.reports)
        if not outcome.broken:
            add(outcome.outcome_key, outcome.conversation.started_at, reached=1)
    return {identity: tuple(numbers[column] for column in COLUMNS) for identity, numbers in counts.items()}


def read_tallies(environment: Environment) -> Tallies:
    rows = (
        Tally.objects.filter(environment=environment)
        .values_list("grain", "outcome_key", "starts_at")
        .annotate(*(Sum(column) for column in COLUMNS))
    )
    return {tuple(row[:3]): tuple(int(number) for number in row[3:]) for row in rows}


def list_search_keys(environment: Environment) -> set[str]:
    """Return the keys that a search can find."""
    return set(OutcomeKey.objects.filter(environment=environment).values_list("outcome_key", flat=True))


def list_tallied_keys(environment: Environment) -> set[str]:
    """Return all keys that have tallies."""
    return {key for _, key, _ in read_tallies(environment)} - {""}


def read_report_times(environment: Environment, key: str) -> tuple[datetime | None, datetime | None]:
    """Return the times of the first and last report of a key, from its tallies by month."""
    months = Tally.objects.filter(environment=environment, grain="m", outcome_key=key)
    return tuple(months.aggregate(first=Min("first_reported_at"), last=Max("last_reported_at")).values())


KeyTallies = Mapping[tuple[str, int, datetime], tuple[int, int]]


def recount_by_api_key(environment: Environment) -> KeyTallies:
    counts: dict[tuple[str, int, datetime], list[int]] = defaultdict(lambda: [0, 0])
    for outcome in Outcome.objects.filter(environment=environment, reported_by__isnull=False):
        for grain in "qdm":
            identity = grain, outcome.reported_by, find_bucket_start(outcome.first_reported_at, grain)
            counts[identity][outcome.broken] += 1
    return {identity: tuple(numbers) for identity, numbers in counts.items()}


def read_tallies_by_api_key(environment: Environment) -> KeyTallies:
    """Return the stored tallies by API key, without those that are back at zero."""
    rows = ApiKeyTally.objects.filter(environment=environment).values_list("grain", "api_key", "starts_at")
    sums = rows.annotate(Sum("outcomes"), Sum("broken"))
    return {tuple(row[:3]): (int(row[3]), int(row[4])) for row in sums if row[3] or row[4]}
