"""SQL that adds to tallies. It consists of common table expressions, which follow one that is named `change`.

Fill in `{shard}` with FREE_SHARD, or with the number of a shard that nobody else writes to. Tallies are locked in
sorted order, and then the list of keys, so that two such statements cannot deadlock.
"""

# Adds the rows of `change (outcome_key, at, outcomes, broken, reports, reached, conversations, first_reported_at,
# last_reported_at)` to the tallies of their key and of all keys (''), by quarter hour, day and month (UTC). Keys are
# looked up in the list one by one: a plan that was cached while there were few keys would read all of them.
ADD_TO_OUTCOME_TALLIES = """
quarter AS (
  SELECT outcome_key, date_bin('15 minutes', at, '2000-01-01Z') AS at,
         sum(outcomes) AS outcomes, sum(broken) AS broken, sum(reports) AS reports,
         sum(reached) AS reached, sum(conversations) AS conversations,
         min(first_reported_at) AS first_reported_at, max(last_reported_at) AS last_reported_at
  FROM change GROUP BY 1, 2
), changed_tally AS (
  INSERT INTO outcomes_tally AS tally
    (environment_id, grain, outcome_key, starts_at, lane, outcomes, broken, reports, reached, conversations,
     first_reported_at, last_reported_at)
  SELECT %(environment)s, grain, label, starts_at, {shard},
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
  RETURNING grain, outcome_key
), listed_key AS (
  INSERT INTO outcomes_outcomekey (environment_id, outcome_key)
  SELECT %(environment)s, changed_key.outcome_key
  FROM (SELECT DISTINCT outcome_key FROM changed_tally WHERE grain = 'm' AND outcome_key <> '') AS changed_key
  LEFT JOIN LATERAL (
    SELECT true AS is_listed FROM outcomes_outcomekey AS listed
    WHERE listed.environment_id = %(environment)s AND listed.outcome_key = changed_key.outcome_key LIMIT 1
  ) AS look_up ON true
  WHERE is_listed IS NULL ORDER BY changed_key.outcome_key
  ON CONFLICT DO NOTHING
)"""

# The same for API keys: adds the rows of `change` that name an API key (reported_by) to the tallies of that key.
ADD_TO_API_KEY_TALLIES = """
quarter_of_api_key AS (
  SELECT reported_by, date_bin('15 minutes', at, '2000-01-01Z') AS at, sum(outcomes) AS outcomes, sum(broken) AS broken
  FROM change WHERE reported_by IS NOT NULL GROUP BY 1, 2 HAVING sum(outcomes) <> 0 OR sum(broken) <> 0
), changed_api_key_tally AS (
  INSERT INTO outcomes_apikeytally AS tally (environment_id, grain, api_key, starts_at, lane, outcomes, broken)
  SELECT %(environment)s, grain, reported_by, starts_at, {shard}, sum(outcomes), sum(broken)
  FROM quarter_of_api_key
    CROSS JOIN LATERAL (
      VALUES ('q', at), ('d', date_trunc('day', at, 'UTC')), ('m', date_trunc('month', at, 'UTC'))
    ) AS bucket (grain, starts_at)
  GROUP BY grain, reported_by, starts_at
  ORDER BY grain, reported_by, starts_at
  ON CONFLICT (environment_id, grain, api_key, starts_at, lane) DO UPDATE SET
    outcomes = tally.outcomes + excluded.outcomes,
    broken = tally.broken + excluded.broken
)"""
