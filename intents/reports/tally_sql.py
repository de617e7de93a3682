"""The statement that adds verifications to their tallies and to the roll-ups of the tallies."""

from wire.tallies.shards import FREE_SHARD

# The roll-ups of a quarter hour's tally: its day and its month; and its quarter hour, day and month over all versions
# (-1) and operations ('').
ROLLUPS = """
VALUES ('d', date_trunc('day', start, 'UTC'), version, operation),
       ('m', date_trunc('month', start, 'UTC'), version, operation),
       ('q', start, -1::smallint, ''),
       ('d', date_trunc('day', start, 'UTC'), -1::smallint, ''),
       ('m', date_trunc('month', start, 'UTC'), -1::smallint, '')"""

# Tallies are locked in sorted order, and so are their roll-ups, so that two such statements cannot deadlock.
ADD_TO_TALLIES = f"""
WITH added AS (
  SELECT * FROM unnest(
    %(starts)s::timestamptz[], %(results)s::text[], %(versions)s::smallint[], %(operations)s::text[],
    %(counts)s::bigint[], %(last_times)s::timestamptz[]
  ) AS added (start, result, version, operation, count, last_at)
), rollup AS (
  INSERT INTO intents_verificationrollup AS tally
         (environment_id, grain, version, starts_at, result, operation, shard, count, last_at)
  SELECT %(environment)s, grain, label.version, starts_at, result, label.operation, {FREE_SHARD}, sum(count),
         max(last_at)
    FROM added CROSS JOIN LATERAL ({ROLLUPS}) AS label (grain, starts_at, version, operation)
   GROUP BY grain, label.version, starts_at, result, label.operation
   ORDER BY grain, label.version, starts_at, result, label.operation
      ON CONFLICT (environment_id, grain, version, starts_at, result, operation, shard)
      DO UPDATE SET count = tally.count + excluded.count, last_at = greatest(tally.last_at, excluded.last_at)
)
INSERT INTO intents_verificationtally AS tally
       (environment_id, start, result, version, operation, count, last_at)
SELECT %(environment)s, added.* FROM added
    ON CONFLICT (environment_id, start, result, version, operation)
    DO UPDATE SET count = tally.count + excluded.count, last_at = greatest(tally.last_at, excluded.last_at)
"""
TALLY_PARAMETERS = ("starts", "results", "versions", "operations", "counts", "last_times")
