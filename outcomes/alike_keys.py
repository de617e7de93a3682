"""Outcome keys that look alike to a reader: their common form, and the search for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import F, Func

from wire.postgresql.replica import get_read_connection
from workspaces.models import Environment

# Alike keys have one form, which ignores case, white space, `-`, `_`, marks that cannot be seen (such as U+200B), and
# whether a letter and its accent are one character or two. It is indexed: another form needs a migration.
KEY_FORM_SQL = (
    """translate(lower(normalize(%(expressions)s) COLLATE "default"), """
    r"""U&'-_ \0009\000A\000D\00A0\200B\200E\200F\2060\FEFF', '')"""
)
KEY_FORM = Func(F("outcome_key"), template=KEY_FORM_SQL)

# Keys of the same form as another key; found by index, however many keys there are. A key whose outcomes were all
# deleted or moved away has tallies whose sum is 0. The tallies of all keys together have the key '', as no outcome has.
SELECT_LOOKALIKES = f"""
SELECT subject.outcome_key, tally.outcome_key
FROM unnest(%(keys)s::text[]) AS subject (outcome_key)
CROSS JOIN LATERAL (
  SELECT outcome_key FROM outcomes_tally
  WHERE environment_id = %(environment)s AND grain = 'm'
    AND {KEY_FORM_SQL % {"expressions": "outcome_key"}} = {KEY_FORM_SQL % {"expressions": "subject.outcome_key"}}
  GROUP BY outcome_key HAVING sum(reports) > 0 OFFSET 0
) AS tally
WHERE tally.outcome_key NOT IN (subject.outcome_key, '')
"""


def find_lookalikes(environment: Environment, keys: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return, for each key that has any, the keys of all time of the same form (KEY_FORM_SQL)."""
    lookalikes: dict[str, list[str]] = defaultdict(list)
    with get_read_connection().cursor() as cursor:
        cursor.execute(SELECT_LOOKALIKES, {"environment": environment.pk, "keys": list(keys)})
        for key, lookalike in cursor:
            lookalikes[key].append(lookalike)
    return {key: sorted(keys_of_form) for key, keys_of_form in lookalikes.items()}
