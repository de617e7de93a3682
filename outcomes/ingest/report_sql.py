"""The statement that stores a batch of reports.

It locks conversations, then outcomes, then tallies, then keys, each kind sorted. Registrations and moves lock in the
same order, so no two of them can deadlock. The order is certain, because between two steps there is a sort or an
aggregate, which reads all rows of the first step before the second begins.

Texts are compared exactly (collation "C").
"""

from outcomes.tallies.sharded_sql import ADD_TO_API_KEY_TALLIES, ADD_TO_OUTCOME_TALLIES
from wire.tallies.shards import FREE_SHARD

# The environment is locked before any item is read, as `Environment.hold` does. A conversation that our snapshot shows
# as known stays known, so it needs no lock. The row of any other conversation is inserted or locked; this waits for a
# concurrent registration and sees its result. Items are summed first, because ON CONFLICT cannot touch a row twice.
# Conversations are looked up one by one, because a plan that was made while the table was small would read the whole
# table.
RECORD = f"""
WITH environment_row AS MATERIALIZED (
  SELECT FROM workspaces_environment WHERE id = %(environment)s FOR KEY SHARE
), item AS (
  SELECT conversation_id, outcome_key, count(*) AS reports
  FROM environment_row CROSS JOIN unnest(%(conversation_ids)s::text[], %(outcome_keys)s::text[])
    AS batch (conversation_id, outcome_key)
  GROUP BY 1, 2
), reported_id AS (
  SELECT DISTINCT conversation_id FROM item
), known_conversation AS (
  SELECT known.* FROM reported_id CROSS JOIN LATERAL (
    SELECT id, conversation_id, started_at FROM outcomes_conversation
    WHERE environment_id = %(environment)s AND conversation_id = reported_id.conversation_id AND started_at IS NOT NULL
    LIMIT 1
  ) AS known
), locked_conversation AS (
  INSERT INTO outcomes_conversation AS conversation (environment_id, conversation_id)
  SELECT %(environment)s, conversation_id FROM reported_id
  WHERE conversation_id NOT IN (SELECT conversation_id FROM known_conversation)
  ORDER BY conversation_id COLLATE "C"
  ON CONFLICT (environment_id, conversation_id) DO UPDATE SET started_at = conversation.started_at
  RETURNING id, conversation_id, started_at
), conversation AS (
  SELECT * FROM known_conversation UNION ALL SELECT * FROM locked_conversation
), report AS (
  SELECT conversation.id, conversation.conversation_id, started_at, outcome_key, reports
  FROM item JOIN conversation USING (conversation_id)
), stored_outcome AS (
  INSERT INTO outcomes_outcome AS outcome
    (environment_id, conversation_id, outcome_key, reports, first_reported_at, last_reported_at, broken,
     reported_by)
  SELECT %(environment)s, id, outcome_key, reports, %(now)s, %(now)s, started_at IS NULL,
         %(reported_by)s::bigint
  FROM report ORDER BY conversation_id COLLATE "C", outcome_key COLLATE "C"
  ON CONFLICT (environment_id, conversation_id, outcome_key) DO UPDATE SET
    reports = outcome.reports + excluded.reports,
    last_reported_at = greatest(outcome.last_reported_at, excluded.last_reported_at),
    own_first_reported_at = CASE WHEN outcome.moved_in > 0
      THEN coalesce(outcome.own_first_reported_at, excluded.first_reported_at) END,
    own_last_reported_at = CASE WHEN outcome.moved_in > 0
      THEN greatest(outcome.own_last_reported_at, excluded.last_reported_at) END,
    own_reported_by = CASE WHEN outcome.moved_in = 0 THEN NULL
      WHEN outcome.own_first_reported_at IS NULL THEN excluded.reported_by ELSE outcome.own_reported_by END
  RETURNING conversation_id AS id, outcome_key, reports AS reports_so_far, first_reported_at, last_reported_at
), result AS (
  SELECT *, reports_so_far = reports AS is_new FROM report JOIN stored_outcome USING (id, outcome_key)
), change AS (
  SELECT outcome_key, first_reported_at AS at,
         (is_new AND started_at IS NOT NULL)::int AS outcomes, (is_new AND started_at IS NULL)::int AS broken,
         reports, 0 AS reached, 0 AS conversations, first_reported_at, last_reported_at,
         CASE WHEN is_new THEN %(reported_by)s::bigint END AS reported_by
  FROM result
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL
  FROM result WHERE is_new AND started_at IS NOT NULL
), {ADD_TO_OUTCOME_TALLIES.format(shard=FREE_SHARD)}, {ADD_TO_API_KEY_TALLIES.format(shard=FREE_SHARD)}
SELECT EXISTS (SELECT FROM environment_row),
       coalesce(sum(reports) FILTER (WHERE started_at IS NOT NULL), 0)::int AS recorded,
       count(*) FILTER (WHERE is_new AND started_at IS NOT NULL)::int AS new,
       coalesce(array_agg(DISTINCT conversation_id) FILTER (WHERE started_at IS NULL), '{{}}') AS unknown
FROM result
"""
