"""Read single broken joins, each with its diagnosis, and the joins that healed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Coalesce

from outcomes.analytics.lag import median_length
from outcomes.broken_joins.causes.diagnose import Diagnosis, KnownConversation, bare_form, bare_forms, diagnose
from outcomes.broken_joins.causes.groups import BrokenJoin
from outcomes.models import Conversation, Outcome
from wire.postgresql.replica import get_read_connection
from wire.tallies.spans import widen_to_quarters
from wire.time.period import Period
from workspaces.models import ApiKey, Environment

NEWEST_DIAGNOSED = 500  # the newest broken joins, from which the causes of all are estimated
IDS_AT_ONCE = 500  # ids that are diagnosed together, with two look-ups
JOINS_AT_ONCE = 2000
MAX_HEALED_MEASURED = 5000  # the time to heal is read for the latest healed joins only
MAX_OF_ONE_FORM = 5  # known conversations of one bare form that are compared with an id

# Known conversations that share a bare form with a reported id: a few of each environment, so that an environment with
# many of them does not take longer.
SELECT_BY_BARE_FORM = f"""
SELECT bare, conversation_id, environment
FROM unnest(%(bare_forms)s::text[]) AS bare
CROSS JOIN unnest(%(environments)s::bigint[]) WITH ORDINALITY AS candidate (environment, position)
CROSS JOIN LATERAL (
  SELECT conversation_id FROM outcomes_conversation
  WHERE environment_id = environment AND bare_form = bare LIMIT {MAX_OF_ONE_FORM}
) AS known
ORDER BY position, conversation_id
"""
JOIN_COLUMNS = (
    "conversation__conversation_id", "outcome_key", "reports", "first_reported_at", "last_reported_at", "reported_by",
)  # fmt: skip
JoinRow = tuple[str, str, int, datetime, datetime, int | None]
BROKEN_SINCE = Coalesce("own_first_reported_at", "first_reported_at")  # as Outcome.healed_after
TIME_TO_HEAL = ExpressionWrapper(F("healed_at") - BROKEN_SINCE, output_field=DurationField())


@dataclass(frozen=True)
class Healing:
    """The broken joins that healed in a period.

    lengths: how long each of the latest of them took to heal, for at most MAX_HEALED_MEASURED joins.
    """

    count: int
    lengths: Sequence[timedelta]

    @property
    def sample_size(self) -> int:
        return len(self.lengths)

    @property
    def median(self) -> timedelta | None:
        return median_length(self.lengths)

    @property
    def longest(self) -> timedelta | None:
        return max(self.lengths, default=None)


def find_broken_joins(environment: Environment, period: Period, key: str = "") -> QuerySet[Outcome]:
    """Return the broken joins first reported in the period, the newest first.

    key: their outcome key, "" for any.
    """
    joins = Outcome.objects.filter(environment=environment, broken=True, **_within("first_reported_at", period))
    return (
        (joins.filter(outcome_key=key) if key else joins)
        .select_related("conversation")
        .order_by("-first_reported_at", "-conversation_id", "outcome_key")
    )


def find_reported_again(environment: Environment, period: Period, key: str = "") -> QuerySet[Outcome]:
    """Return the broken joins first reported before the period and last in it, the latest report first.

    key: their outcome key, "" for any.
    """
    start, _ = widen_to_quarters(period)
    joins = Outcome.objects.filter(
        environment=environment, broken=True, first_reported_at__lt=start, **_within("last_reported_at", period)
    )
    return sort_by_last_report(joins.filter(outcome_key=key) if key else joins).select_related("conversation")


def sort_by_last_report(joins: QuerySet[Outcome]) -> QuerySet[Outcome]:
    return joins.order_by("-last_reported_at", "-first_reported_at", "-conversation_id", "outcome_key")


def find_oldest_report(environment: Environment) -> datetime | None:
    """Return when the oldest join that is still broken was first reported, in any period; None if there is none."""
    oldest_first = Outcome.objects.filter(environment=environment, broken=True).order_by("first_reported_at")
    return oldest_first.values_list("first_reported_at", flat=True).first()


def stream_broken_joins(environment: Environment, joins: QuerySet[Outcome]) -> Iterator[BrokenJoin]:
    """Yield each join with its current diagnosis, as `diagnose_joins` does, without reading all rows at once."""
    rows = joins.values_list(*JOIN_COLUMNS)
    return _diagnose_rows(environment, rows.iterator(chunk_size=JOINS_AT_ONCE))


def diagnose_joins(environment: Environment, joins: QuerySet[Outcome]) -> Iterator[BrokenJoin]:
    """Yield each join with its current diagnosis: two look-ups a batch, however much is stored."""
    return _diagnose_rows(environment, joins.values_list(*JOIN_COLUMNS))


def _diagnose_rows(environment: Environment, joins: Iterable[JoinRow]) -> Iterator[BrokenJoin]:
    rows, names = iter(joins), list_environment_names(environment)
    while batch := list(islice(rows, IDS_AT_ONCE)):
        diagnoses = diagnose_ids(environment, names, {reported_id for reported_id, *_ in batch})
        for reported_id, key, reports, first_at, last_at, reported_by in batch:
            yield BrokenJoin(reported_id, key, reports, first_at, last_at, diagnoses[reported_id], reported_by)


def list_environment_names(environment: Environment) -> Mapping[int, str]:
    """Return the names of the environments that a diagnosis may read, by row id."""
    return dict(environment.readable.order_by("pk").values_list("pk", "name"))


def list_api_keys(environment: Environment) -> Mapping[int | None, ApiKey]:
    """Return the API keys of the workspace by row id."""
    return {key.pk: key for key in environment.workspace.api_keys.all()}


def diagnose_ids(
    environment: Environment, names: Mapping[int, str], reported_ids: Iterable[str]
) -> Mapping[str, Diagnosis]:
    """Return why each of these ids is not known in this environment.

    names: the result of `list_environment_names`.
    """
    forms = {id_: bare_forms(id_) for id_ in sorted(reported_ids)}
    siblings = _find_in_siblings(list(forms), {pk: name for pk, name in names.items() if pk != environment.pk})
    by_form = _find_by_bare_form({form for forms_of_id in forms.values() for form in forms_of_id}, environment, names)
    return {
        id_: diagnose(id_, siblings=siblings, candidates=_rank_candidates(forms_of_id, by_form))
        for id_, forms_of_id in forms.items()
    }


def _rank_candidates(
    forms: Iterable[str], by_form: Mapping[str, Mapping[int, KnownConversation]]
) -> Sequence[KnownConversation]:
    """Return the conversations that have one of these bare forms, each once, in the order of `_find_by_bare_form`."""
    by_rank: dict[int, KnownConversation] = {}
    for form in forms:
        by_rank.update(by_form.get(form, {}))
    return [by_rank[rank] for rank in sorted(by_rank)]


def _find_in_siblings(ids: Sequence[str], names: Mapping[int, str]) -> Mapping[str, str]:
    """Return, for each known id, the name of the environment that knows it; the oldest if several do."""
    rows = Conversation.objects.filter(
        environment__in=list(names), conversation_id__in=ids, started_at__isnull=False
    ).values_list("conversation_id", "environment_id")
    return {id_: names[pk] for id_, pk in sorted(rows, reverse=True)}


def _find_by_bare_form(
    forms: Iterable[str], environment: Environment, names: Mapping[int, str]
) -> Mapping[str, Mapping[int, KnownConversation]]:
    """Return conversations by bare form and rank: conversations of this environment rank before the siblings'."""
    order = sorted(names, key=lambda pk: (pk != environment.pk, pk))
    by_form: dict[str, dict[int, KnownConversation]] = {}
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_BY_BARE_FORM, {"bare_forms": sorted(forms), "environments": order})
        for rank, (form, conversation_id, pk) in enumerate(cursor):
            by_form.setdefault(form, {})[rank] = KnownConversation(conversation_id, names[pk])
    return by_form


def list_joins_naming(environment: Environment, conversation_id: str) -> Sequence[tuple[Environment, BrokenJoin]]:
    """Return the broken joins whose diagnosis names this known conversation, with their environments, newest first.

    Joins with the same id in another environment are all found; those with an altered id only among the newest
    NEWEST_DIAGNOSED of each environment.
    """
    conversation = KnownConversation(conversation_id, environment.name)
    bare = bare_form(conversation_id)
    naming: list[tuple[Environment, BrokenJoin]] = []
    for sibling in environment.readable:
        joins = Outcome.objects.filter(environment=sibling, broken=True)
        newest = joins.order_by("-first_reported_at").values_list(*JOIN_COLUMNS)[:NEWEST_DIAGNOSED]
        same_id = joins.filter(conversation__conversation_id=conversation_id).values_list(*JOIN_COLUMNS)
        altered_rows = [row for row in newest if row[0] != conversation_id and bare in bare_forms(row[0])]
        broken_joins = _diagnose_rows(sibling, [*same_id, *altered_rows])
        naming += [(sibling, join) for join in broken_joins if join.diagnosis.match == conversation]
    return sorted(naming, key=lambda pair: pair[1].first_reported_at, reverse=True)


def find_healed_outcomes(environment: Environment, period: Period) -> QuerySet[Outcome]:
    """Return outcomes that healed in the period, the latest first."""
    return (
        Outcome.objects.filter(environment=environment, **_within("healed_at", period))
        .select_related("conversation")
        .order_by("-healed_at", "-conversation_id", "outcome_key")
    )


def measure_healing(environment: Environment, period: Period) -> Healing:
    outcomes = Outcome.objects.filter(environment=environment, **_within("healed_at", period))
    latest = outcomes.order_by("-healed_at").values_list(TIME_TO_HEAL, flat=True)[:MAX_HEALED_MEASURED]
    lengths = list(latest)
    count = len(lengths) if len(lengths) < MAX_HEALED_MEASURED else outcomes.count()
    return Healing(count, lengths)


def find_longest_healing(environment: Environment) -> timedelta | None:
    """Return the longest time that one of the latest healed joins of any period took; None if nothing has healed."""
    healed_joins = Outcome.objects.filter(environment=environment, healed_at__isnull=False).order_by("-healed_at")
    return max(healed_joins.values_list(TIME_TO_HEAL, flat=True)[:MAX_HEALED_MEASURED], default=None)


def _within(field: str, period: Period) -> dict[str, datetime]:
    start, end = widen_to_quarters(period)
    return {f"{field}__gte": start, f"{field}__lt": end}
