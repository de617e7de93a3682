"""Match rejections with intents: a rejection belongs to the last earlier intent of its tool call.

One that is `not-yet-valid` belongs to the first later intent: by the clock of the backend, which is slow, the call came
before its intent was minted.

The intents of all environments that the reader may see are searched: an intent of another environment explains an
`audience-mismatch`.

The indexes of tool calls serve both queries. Callers with many rows read them in batches (`split_into_batches`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from intents.models import MintedIntent, Rejection
from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment

# Columns of an intent; the last two are the times at which the intents before and after it were minted for its call.
INTENT = """
id, sub, tool_call_id, issued_at, lag(issued_at) OVER calls AS previous_at, lead(issued_at) OVER calls AS replaced_at
"""
CALLS = "WINDOW calls AS (PARTITION BY tool_call_id ORDER BY issued_at, id)"
BELONGS_TO_INTENT = """
rejection.tool_call_id = intent.tool_call_id AND CASE reason
WHEN 'not-yet-valid' THEN occurred_at < issued_at AND (previous_at IS NULL OR occurred_at >= previous_at)
ELSE occurred_at >= issued_at AND (replaced_at IS NULL OR occurred_at < replaced_at) END
"""
SLOWEST_CLOCK = timedelta(days=1)
"""How far behind the clock of a backend may be, so that its rejections are counted with their intents."""
# Months before the first intent are not read. Intents are read only for calls that were rejected, which are few.
COUNT_REJECTIONS = f"""
WITH rejection AS MATERIALIZED (
  SELECT tool_call_id, occurred_at, reason, count FROM intents_rejection
  WHERE environment_id = %(environment)s AND tool_call_id = ANY(%(calls)s) AND occurred_at >= %(since)s
), intent AS (
  SELECT {INTENT} FROM intents_mintedintent
  WHERE environment_id = ANY(%(environments)s) AND tool_call_id = ANY(ARRAY(SELECT tool_call_id FROM rejection))
    AND issued_at >= %(since)s
  {CALLS}
)
SELECT intent.id, reason, sum(count)::bigint FROM intent JOIN rejection ON {BELONGS_TO_INTENT}
WHERE intent.id = ANY(%(numbers)s)
GROUP BY 1, 2 ORDER BY 3 DESC, 2
"""
SELECT_USERS = f"""
WITH intent AS (
  SELECT {INTENT} FROM intents_mintedintent
  WHERE environment_id = ANY(%(environments)s) AND tool_call_id = ANY(%(calls)s)
  {CALLS}
)
SELECT rejection.id, sub
FROM unnest(%(numbers)s::bigint[], %(calls)s::text[], %(times)s::timestamptz[], %(reasons)s::text[])
  AS rejection (id, tool_call_id, occurred_at, reason)
JOIN intent ON {BELONGS_TO_INTENT}
"""


def count_rejections_by_intent(
    environment: Environment, intents: Sequence[MintedIntent]
) -> Mapping[int, Mapping[str, int]]:
    """Return, by intent and reason, how many rejections belong to the intent."""
    if not intents:
        return {}
    since = min(intent.issued_at for intent in intents) - SLOWEST_CLOCK
    parameters = {"environment": environment.pk, "since": since, **_select_calls(environment, intents)}
    counts: dict[int, dict[str, int]] = {}
    for number, reason, count in _read(COUNT_REJECTIONS, parameters):
        counts.setdefault(number, {})[reason] = count
    return counts


def find_users(environment: Environment, rejections: Sequence[Rejection]) -> Mapping[int, str]:
    """Return the user of each rejection's intent by the id of the rejection, without rejections of unknown intents."""
    with_call = [rejection for rejection in rejections if rejection.tool_call_id]
    times, reasons = [row.occurred_at for row in with_call], [row.reason for row in with_call]
    return dict(_read(SELECT_USERS, {"times": times, "reasons": reasons, **_select_calls(environment, with_call)}))


def find_intent(environment: Environment, rejection: Rejection) -> MintedIntent | None:
    """Return the intent that a rejection belongs to, if any: the rule of `BELONGS_TO_INTENT` for one rejection."""
    if not rejection.tool_call_id:
        return None
    if rejection.reason == "not-yet-valid":
        later = _select_intents(environment, rejection).filter(issued_at__gt=rejection.occurred_at)
        return later.select_related("environment").order_by("issued_at", "id").first()
    intents = select_intents_before(environment, rejection)
    return intents.select_related("environment").order_by("-issued_at", "-id").first()


def select_intents_before(environment: Environment, rejection: Rejection) -> QuerySet[MintedIntent]:
    """Return the intents that were minted for a rejection's tool call before the rejection.

    They are of all environments that the reader may see.
    """
    return _select_intents(environment, rejection).filter(issued_at__lte=rejection.occurred_at)


def _select_intents(environment: Environment, rejection: Rejection) -> QuerySet[MintedIntent]:
    environments = list(environment.readable.values_list("pk", flat=True))
    return MintedIntent.objects.filter(environment__in=environments, tool_call_id=rejection.tool_call_id)


def _select_calls(environment: Environment, rows: Sequence[MintedIntent] | Sequence[Rejection]) -> dict[str, Any]:
    return {
        "environments": list(environment.readable.values_list("pk", flat=True)),
        "numbers": [row.pk for row in rows],
        "calls": [row.tool_call_id for row in rows],
    }


def _read(statement: str, parameters: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    if not parameters["numbers"]:
        return []
    with get_read_connection().cursor() as cursor:
        cursor.execute(statement, parameters)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
    return rows
