"""Every read of single broken joins, each with its diagnosis, and of those that healed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from statistics import median

from django.db import connection
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet

from outcomes.broken_joins.diagnose import Diagnosis, Known, bare_forms, diagnose
from outcomes.models import Conversation, Outcome
from wire.period import Period, ceil_to_quarter, floor_to_quarter
from workspaces.models import Environment

BATCH = 500
EXAMPLES = 5  # ids that stand for a cause
HEALED_MEASURED = 5000  # the latest healed ones, whose times to heal are looked at
ALIKE_LOOKED_AT = 5  # known conversations of one bare form that are compared with an id


@dataclass(frozen=True)
class BrokenJoin:
    """A reported outcome whose conversation is not known, and why it probably is not."""

    conversation_id: str
    outcome_key: str
    reports: int
    first_reported_at: datetime
    last_reported_at: datetime
    diagnosis: Diagnosis
    reported_by: int | None = None


# Known conversations that share a bare form with a reported id; per environment, and few of them, so that an
# environment full of one bare form costs no more.
ALIKE = f"""
SELECT bare, conversation_id, environment
FROM unnest(%(bare_forms)s::text[]) AS bare
CROSS JOIN unnest(%(environments)s::bigint[]) WITH ORDINALITY AS looked_in (environment, position)
CROSS JOIN LATERAL (
  SELECT conversation_id FROM outcomes_conversation
  WHERE environment_id = environment AND bare_form = bare LIMIT {ALIKE_LOOKED_AT}
) AS known
ORDER BY position, conversation_id
"""


def still_broken(environment: Environment, period: Period) -> QuerySet[Outcome]:
    """Broken joins first reported in the range, the newest first."""
    return (
        Outcome.objects.filter(environment=environment, broken=True, **within("first_reported_at", period))
        .select_related("conversation")
        .order_by("-first_reported_at", "-conversation_id", "outcome_key")
    )


def oldest(environment: Environment) -> datetime | None:
    """When the broken join that waits longest was first reported, in whatever range."""
    waiting = Outcome.objects.filter(environment=environment, broken=True).order_by("first_reported_at")
    return waiting.values_list("first_reported_at", flat=True).first()


def diagnosed(environment: Environment, joins: Iterable[Outcome]) -> Iterator[BrokenJoin]:
    """Each with its diagnosis of this moment; two look-ups for each batch, however much is stored."""
    rows, names = iter(joins), environment_names(environment)
    while batch := list(islice(rows, BATCH)):
        verdicts = diagnoses(environment, names, {row.conversation.conversation_id for row in batch})
        for row in batch:
            reported = row.conversation.conversation_id
            yield BrokenJoin(
                reported,
                row.outcome_key,
                row.reports,
                row.first_reported_at,
                row.last_reported_at,
                verdicts[reported],
                row.reported_by,
            )


def environment_names(environment: Environment) -> Mapping[int, str]:
    """Every environment that a diagnosis may look into, by row id: those of this workspace, none of another."""
    return dict(environment.workspace.environments.order_by("pk").values_list("pk", "name"))


def diagnoses(environment: Environment, names: Mapping[int, str], reported: Iterable[str]) -> Mapping[str, Diagnosis]:
    """Why each of these ids is not known here."""
    ids = sorted(reported)
    siblings = known_next_door(ids, {pk: name for pk, name in names.items() if pk != environment.pk})
    alike = known_alike(ids, environment, names)
    return {id_: diagnose(id_, siblings=siblings, alike=likeliest(id_, alike)) for id_ in ids}


def likeliest(reported: str, alike: Mapping[str, Mapping[int, Known]]) -> Sequence[Known]:
    """Those that share a bare form with it, in the order in which they were found."""
    found = {rank: known for form in bare_forms(reported) for rank, known in alike.get(form, {}).items()}
    return [found[rank] for rank in sorted(found)]


def known_next_door(ids: Sequence[str], names: Mapping[int, str]) -> Mapping[str, str]:
    """Environment name by id; the oldest environment where several know it."""
    found = Conversation.objects.filter(
        environment__in=list(names), conversation_id__in=ids, started_at__isnull=False
    ).values_list("conversation_id", "environment_id")
    return {id_: names[pk] for id_, pk in sorted(found, reverse=True)}


def known_alike(
    ids: Sequence[str], environment: Environment, names: Mapping[int, str]
) -> Mapping[str, Mapping[int, Known]]:
    """By bare form and rank: own conversations before those of the siblings."""
    order = sorted(names, key=lambda pk: (pk != environment.pk, pk))
    forms = sorted({form for id_ in ids for form in bare_forms(id_)})
    found: dict[str, dict[int, Known]] = {}
    with connection.cursor() as cursor:
        cursor.execute(ALIKE, {"bare_forms": forms, "environments": order})
        for rank, (bare, conversation_id, pk) in enumerate(cursor):
            found.setdefault(bare, {})[rank] = Known(conversation_id, names[pk])
    return found


@dataclass(frozen=True)
class Cause:
    """Broken joins of one diagnosis; of `other-environment`, those of one environment."""

    kind: str
    environment: str
    count: int
    examples: Sequence[BrokenJoin]
    oldest: datetime

    @property
    def example(self) -> BrokenJoin:
        return self.examples[0]

    @property
    def sample(self) -> Sequence[str]:
        """A few of the ids, each once."""
        return list(dict.fromkeys(join.conversation_id for join in self.examples))


def is_of(join: BrokenJoin, kind: str, environment: str = "") -> bool:
    """Whether a join has this diagnosis and, where one is named, was found in this environment."""
    return join.diagnosis.kind == kind and environment in ("", found_in(join))


def found_in(join: BrokenJoin) -> str:
    """The environment that knows the id, of `other-environment`; else ""."""
    verdict = join.diagnosis
    return verdict.found.environment if verdict.found and verdict.kind == "other-environment" else ""


def causes(joins: Iterable[BrokenJoin]) -> Sequence[Cause]:
    """The commonest first; examples are the first ones met."""
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], list[BrokenJoin]] = {}
    oldest: dict[tuple[str, str], datetime] = {}
    for join in joins:
        cause = join.diagnosis.kind, found_in(join)
        counts[cause] += 1
        oldest[cause] = min(oldest.get(cause, join.first_reported_at), join.first_reported_at)
        if len(sample := examples.setdefault(cause, [])) < EXAMPLES:
            sample.append(join)
    ordered = sorted(counts, key=lambda cause: (-counts[cause], cause))
    return [Cause(*cause, counts[cause], examples[cause], oldest[cause]) for cause in ordered]


@dataclass(frozen=True)
class Healed:
    """Broken joins that became outcomes in a range; median and longest time to heal of the latest `measured`."""

    count: int
    measured: int
    median: timedelta | None
    longest: timedelta | None


TIME_TO_HEAL = ExpressionWrapper(F("healed_at") - F("first_reported_at"), output_field=DurationField())


def healed_outcomes(environment: Environment, period: Period) -> QuerySet[Outcome]:
    """Outcomes that healed in the range, the latest first; each has `healed_after`."""
    return (
        Outcome.objects.filter(environment=environment, **within("healed_at", period))
        .annotate(healed_after=TIME_TO_HEAL)
        .select_related("conversation")
        .order_by("-healed_at", "-conversation_id", "outcome_key")
    )


def healed(environment: Environment, period: Period) -> Healed:
    found = Outcome.objects.filter(environment=environment, **within("healed_at", period))
    latest = found.order_by("-healed_at").values_list(TIME_TO_HEAL, flat=True)[:HEALED_MEASURED]
    lengths = list(latest)
    count = len(lengths) if len(lengths) < HEALED_MEASURED else found.count()
    return Healed(count, len(lengths), median(lengths) if lengths else None, max(lengths, default=None))


def within(field: str, period: Period) -> dict[str, datetime]:
    """The same quarter hours as the tallies, so that lists and totals agree."""
    return {f"{field}__gte": floor_to_quarter(period.start), f"{field}__lt": ceil_to_quarter(period.end)}
