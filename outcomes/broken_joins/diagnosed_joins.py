"""Read broken joins, each with its diagnosis: why its conversation id is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from django.db.models import QuerySet

from outcomes.broken_joins.causes.diagnose import Diagnosis, KnownConversation, bare_form, bare_forms, diagnose
from outcomes.broken_joins.causes.groups import BrokenJoin
from outcomes.models import Conversation, Outcome
from wire.batches import split_into_batches
from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment

NEWEST_DIAGNOSED = 500  # the newest broken joins, from which the causes of all are estimated
IDS_AT_ONCE = 500  # ids that are diagnosed together, with two look-ups
JOINS_AT_ONCE = 2000
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


def stream_broken_joins(environment: Environment, joins: QuerySet[Outcome]) -> Iterator[BrokenJoin]:
    """Yield each join with its current diagnosis, as `diagnose_joins` does, without reading all rows at once."""
    rows = joins.values_list(*JOIN_COLUMNS)
    return _diagnose_rows(environment, rows.iterator(chunk_size=JOINS_AT_ONCE))


def diagnose_joins(environment: Environment, joins: QuerySet[Outcome]) -> Iterator[BrokenJoin]:
    """Yield each join with its current diagnosis: two look-ups a batch, however much is stored."""
    return _diagnose_rows(environment, joins.values_list(*JOIN_COLUMNS))


def _diagnose_rows(environment: Environment, joins: Iterable[JoinRow]) -> Iterator[BrokenJoin]:
    names = list_environment_names(environment)
    for batch in split_into_batches(joins, IDS_AT_ONCE):
        diagnoses = diagnose_ids(environment, names, {reported_id for reported_id, *_ in batch})
        for reported_id, key, reports, first_at, last_at, reported_by in batch:
            yield BrokenJoin(reported_id, key, reports, first_at, last_at, diagnoses[reported_id], reported_by)


def list_environment_names(environment: Environment) -> Mapping[int, str]:
    """Return the names of the environments that a diagnosis may read, by row id."""
    return dict(environment.readable.order_by("pk").values_list("pk", "name"))


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
