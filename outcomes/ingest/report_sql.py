"""The statements that write outcomes. Each locks conversations, then outcomes, then tallies, then keys, all sorted.

That order is why two of them cannot deadlock: a sort or an aggregate between two steps ends the one before
the other begins. Parameters are named; texts are compared exactly (collation "C").
"""

LANES = 8  # writers that can add to one bucket without waiting for each other's commit
# The first that no writer at this moment has, held until the transaction ends; where all are taken, any.
LANE = f"""coalesce(
  (SELECT lane FROM generate_series(0, {LANES - 1}) AS lane
   WHERE pg_try_advisory_xact_lock(%(environment)s::int, lane) LIMIT 1),
  pg_backend_pid() %% {LANES})"""

# Adds the rows of `change (outcome_key, at, outcomes, broken, reports, reached, conversations,
# first_reported_at, last_reported_at)` to the tallies of their key and of all keys (''), by quarter hour, day
# and month (UTC). A key that is new has no tally of the month yet, so that keys are looked at once a month and lane.
ADD_TO_TALLIES = f"""
quarter AS (
  SELECT outcome_key, date_bin('15 minutes', at, '2000-01-01Z') AS at,
         sum(outcomes) AS outcomes, sum(broken) AS broken, sum(reports) AS reports,
         sum(reached) AS reached, sum(conversations) AS conversations,
         min(first_reported_at) AS first_reported_at, max(last_reported_at) AS last_reported_at
  FROM change GROUP BY 1, 2
), tallied AS (
  INSERT INTO outcomes_tally AS tally
    (environment_id, grain, outcome_key, starts_at, lane, outcomes, broken, reports, reached, conversations,
     first_reported_at, last_reported_at)
  SELECT %(environment)s, grain, label, starts_at, {LANE},
         sum(outcomes), sum(broken), sum(reports), sum(reached), sum(conversations),
         min(first_reported_at), max(last_reported_at)
  FROM quarter
    CROSS JOIN LATERAL
      unnest(CASE outcome_key WHEN '' THEN ARRAY[''] ELSE ARRAY[outcome_key, ''] END) AS label
    CROSS JOIN LATERAL (
      VALUES ('q', at), ('d', date_trunc('day', at, 'UTC')), ('m', date_trunc('month', at, 'UTC'))
    ) AS bucket (grain, starts_at)
  GROUP BY grain, label, starts_at
  ORDER BY grain, label COLLATE "C", starts_at
  ON CONFLICT (environment_id, grain, outcome_key, starts_at, lane) DO UPDATE SET
    outcomes = tally.outcomes + excluded.outcomes,
    broken = tally.broken + excluded.broken,
    reports = tally.reports + excluded.reports,
    reached = tally.reached + excluded.reached,
    conversations = tally.conversations + excluded.conversations,
    first_reported_at = least(tally.first_reported_at, excluded.first_reported_at),
    last_reported_at = greatest(tally.last_reported_at, excluded.last_reported_at)
  RETURNING grain, outcome_key, xmax = 0 AS is_new
), listed AS (
  INSERT INTO outcomes_outcomekey (environment_id, outcome_key)
  SELECT %(environment)s, outcome_key FROM tallied WHERE is_new AND grain = 'm' AND outcome_key <> ''
  GROUP BY outcome_key ORDER BY outcome_key
  ON CONFLICT DO NOTHING
)"""

# The same for API keys: adds the rows of `change` that name one (reported_by) to that key's tallies.
ADD_TO_API_KEY_TALLIES = f"""
quarter_of_key AS (
  SELECT reported_by, date_bin('15 minutes', at, '2000-01-01Z') AS at, sum(outcomes) AS outcomes, sum(broken) AS broken
  FROM change WHERE reported_by IS NOT NULL GROUP BY 1, 2 HAVING sum(outcomes) <> 0 OR sum(broken) <> 0
), tallied_by_key AS (
  INSERT INTO outcomes_apikeytally AS tally (environment_id, grain, api_key, starts_at, lane, outcomes, broken)
  SELECT %(environment)s, grain, reported_by, starts_at, {LANE}, sum(outcomes), sum(broken)
  FROM quarter_of_key
    CROSS JOIN LATERAL (
      VALUES ('q', at), ('d', date_trunc('day', at, 'UTC')), ('m', date_trunc('month', at, 'UTC'))
    ) AS bucket (grain, starts_at)
  GROUP BY grain, reported_by, starts_at
  ORDER BY grain, reported_by, starts_at
  ON CONFLICT (environment_id, grain, api_key, starts_at, lane) DO UPDATE SET
    outcomes = tally.outcomes + excluded.outcomes,
    broken = tally.broken + excluded.broken
)"""

# One batch of reports. The environment is held first, as `hold` does: no item is there before. A conversation that
# our snapshot shows as known stays known and needs no lock; for any other we insert or lock its one row and so wait
# for a registration in flight, and see what became of it. Items are summed first, because ON CONFLICT cannot touch a
# row twice. Conversations are looked up one by one: a plan made while the table was small would read all of it.
RECORD = f"""
WITH held AS MATERIALIZED (
  SELECT FROM workspaces_environment WHERE id = %(environment)s FOR KEY SHARE
), item AS (
  SELECT conversation_id, outcome_key, count(*) AS reports
  FROM held CROSS JOIN unnest(%(conversation_ids)s::text[], %(outcome_keys)s::text[])
    AS given (conversation_id, outcome_key)
  GROUP BY 1, 2
), wanted AS (
  SELECT DISTINCT conversation_id FROM item
), known AS (
  SELECT found.* FROM wanted CROSS JOIN LATERAL (
    SELECT id, conversation_id, started_at FROM outcomes_conversation
    WHERE environment_id = %(environment)s AND conversation_id = wanted.conversation_id AND started_at IS NOT NULL
    LIMIT 1
  ) AS found
), met AS (
  INSERT INTO outcomes_conversation AS conversation (environment_id, conversation_id)
  SELECT %(environment)s, conversation_id FROM wanted
  WHERE conversation_id NOT IN (SELECT conversation_id FROM known)
  ORDER BY conversation_id COLLATE "C"
  ON CONFLICT (environment_id, conversation_id) DO UPDATE SET started_at = conversation.started_at
  RETURNING id, conversation_id, started_at
), conversation AS (
  SELECT * FROM known UNION ALL SELECT * FROM met
), said AS (
  SELECT conversation.id, conversation.conversation_id, started_at, outcome_key, reports
  FROM item JOIN conversation USING (conversation_id)
), stored AS (
  INSERT INTO outcomes_outcome AS outcome
    (environment_id, conversation_id, outcome_key, reports, first_reported_at, last_reported_at, broken,
     reported_by)
  SELECT %(environment)s, id, outcome_key, reports, %(now)s, %(now)s, started_at IS NULL,
         %(reported_by)s::bigint
  FROM said ORDER BY conversation_id COLLATE "C", outcome_key COLLATE "C"
  ON CONFLICT (conversation_id, outcome_key) DO UPDATE SET
    reports = outcome.reports + excluded.reports,
    last_reported_at = greatest(outcome.last_reported_at, excluded.last_reported_at),
    own_first_reported_at = CASE WHEN outcome.moved_in > 0
      THEN coalesce(outcome.own_first_reported_at, excluded.first_reported_at) END,
    own_last_reported_at = CASE WHEN outcome.moved_in > 0
      THEN greatest(outcome.own_last_reported_at, excluded.last_reported_at) END,
    own_reported_by = CASE WHEN outcome.moved_in = 0 THEN NULL
      WHEN outcome.own_first_reported_at IS NULL THEN excluded.reported_by ELSE outcome.own_reported_by END
  RETURNING conversation_id AS id, outcome_key, reports AS reports_so_far, first_reported_at, last_reported_at
), counted AS (
  SELECT *, reports_so_far = reports AS is_new FROM said JOIN stored USING (id, outcome_key)
), change AS (
  SELECT outcome_key, first_reported_at AS at,
         (is_new AND started_at IS NOT NULL)::int AS outcomes, (is_new AND started_at IS NULL)::int AS broken,
         reports, 0 AS reached, 0 AS conversations, first_reported_at, last_reported_at,
         CASE WHEN is_new THEN %(reported_by)s::bigint END AS reported_by
  FROM counted
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL
  FROM counted WHERE is_new AND started_at IS NOT NULL
), {ADD_TO_TALLIES}, {ADD_TO_API_KEY_TALLIES}
SELECT EXISTS (SELECT FROM held),
       coalesce(sum(reports) FILTER (WHERE started_at IS NOT NULL), 0)::int AS recorded,
       count(*) FILTER (WHERE is_new AND started_at IS NOT NULL)::int AS new,
       coalesce(array_agg(DISTINCT conversation_id) FILTER (WHERE started_at IS NULL), '{{}}') AS unknown
FROM counted
"""

# Makes conversations known; those that were known already keep their times and are not returned.
REGISTER = """
INSERT INTO outcomes_conversation AS conversation
  (environment_id, conversation_id, started_at, registered_at, bare_form)
SELECT %(environment)s, conversation_id, started_at, %(now)s, bare_form
FROM unnest(%(conversation_ids)s::text[], %(started_at)s::timestamptz[], %(bare_forms)s::text[])
  AS given (conversation_id, started_at, bare_form)
ORDER BY conversation_id COLLATE "C"
ON CONFLICT (environment_id, conversation_id) DO UPDATE SET
  started_at = excluded.started_at, registered_at = excluded.registered_at, bare_form = excluded.bare_form
  WHERE conversation.started_at IS NULL
RETURNING id
"""

# What registering brings about, as a statement of its own: its snapshot must see the broken joins of reports
# that held the conversations' rows until REGISTER got them.
HEAL = f"""
WITH registered AS (
  SELECT id, started_at FROM outcomes_conversation WHERE id = ANY(%(registered)s)
), healed AS (
  UPDATE outcomes_outcome AS outcome SET broken = false, healed_at = %(now)s
  FROM registered WHERE outcome.conversation_id = registered.id AND outcome.broken
  RETURNING outcome_key, first_reported_at, started_at, reported_by
), change AS (
  SELECT outcome_key, first_reported_at AS at, 1 AS outcomes, -1 AS broken, 0 AS reports, 0 AS reached,
         0 AS conversations, NULL::timestamptz AS first_reported_at, NULL::timestamptz AS last_reported_at,
         reported_by
  FROM healed
  UNION ALL
  SELECT outcome_key, started_at, 0, 0, 0, 1, 0, NULL, NULL, NULL FROM healed
  UNION ALL
  SELECT '', started_at, 0, 0, 0, 0, 1, NULL, NULL, NULL FROM registered
), {ADD_TO_TALLIES}, {ADD_TO_API_KEY_TALLIES}
SELECT count(*) FROM healed
"""
