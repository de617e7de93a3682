"""The SQL of moves. It locks conversations, then outcomes, then tallies, all sorted, as the SQL of reports does."""

# Broken joins whose id the target environment knows; their diagnosis decides which of them are moved.
SELECT_KNOWN_IN_TARGET = """
SELECT outcome.conversation_id, outcome.outcome_key, reported.conversation_id
FROM outcomes_outcome AS outcome
JOIN outcomes_conversation AS reported
  ON reported.environment_id = %(source)s AND reported.id = outcome.conversation_id
JOIN outcomes_conversation AS known
  ON known.environment_id = %(target)s AND known.conversation_id = reported.conversation_id
    AND known.started_at IS NOT NULL
WHERE outcome.environment_id = %(source)s AND outcome.broken
  AND outcome.first_reported_at >= %(start)s AND outcome.first_reported_at < %(end)s
"""

# A concurrent registration heals all outcomes of its conversation together: it must wait for the move, or the move for
# it.
LOCK_CONVERSATIONS = """
SELECT conversation.id FROM outcomes_conversation AS conversation
WHERE environment_id = %(environment)s AND id = ANY(%(conversations)s) ORDER BY conversation_id FOR UPDATE
"""

# Read the broken joins again after their conversations are locked: some may have healed meanwhile.
LOCK_BROKEN_JOINS = """
SELECT outcome.conversation_id, known.id, outcome_key, reports, first_reported_at, last_reported_at, reported_by
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS ref (id, key)
JOIN outcomes_outcome AS outcome
  ON outcome.environment_id = %(source)s AND outcome.conversation_id = ref.id AND outcome.outcome_key = ref.key
JOIN outcomes_conversation AS reported
  ON reported.environment_id = %(source)s AND reported.id = outcome.conversation_id
JOIN outcomes_conversation AS known
  ON known.environment_id = %(target)s AND known.conversation_id = reported.conversation_id
WHERE outcome.broken
ORDER BY reported.conversation_id, outcome_key FOR UPDATE OF outcome
"""

# Insert a row without reports for each missing outcome and lock the others in the same pass: a concurrent report waits
# for the move or the move for it, never both.
CREATE_MISSING = """
INSERT INTO outcomes_outcome AS outcome
  (environment_id, conversation_id, outcome_key, reports, first_reported_at, last_reported_at, broken)
SELECT %(environment)s, conversation.id, outcome_key, 0, %(now)s, %(now)s, started_at IS NULL
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS ref (id, outcome_key)
JOIN outcomes_conversation AS conversation USING (id)
WHERE conversation.environment_id = %(environment)s
ORDER BY conversation.conversation_id, outcome_key COLLATE "C"
ON CONFLICT (environment_id, conversation_id, outcome_key) DO UPDATE SET reports = outcome.reports
"""
LOCK_OUTCOMES = """
SELECT outcome.conversation_id, outcome.outcome_key, started_at, registered_at, reports,
       first_reported_at, last_reported_at, reported_by, moved_in, own_first_reported_at, own_last_reported_at,
       own_reported_by, healed_at
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS ref (id, outcome_key)
JOIN outcomes_conversation AS conversation USING (id)
JOIN outcomes_outcome AS outcome
  ON outcome.environment_id = %(environment)s AND outcome.conversation_id = ref.id
    AND outcome.outcome_key = ref.outcome_key
WHERE conversation.environment_id = %(environment)s
ORDER BY conversation.conversation_id, outcome.outcome_key FOR UPDATE OF outcome
"""

UPDATE_PARAMETERS = (
    "conversations", "keys", "reports", "first", "last", "reported_by", "moved_in", "own_first", "own_last",
    "own_reported_by", "healed_at",
)  # fmt: skip
UPDATE_OUTCOMES = """
UPDATE outcomes_outcome AS outcome SET
  reports = new.reports, first_reported_at = first, last_reported_at = last, reported_by = new.reported_by,
  moved_in = new.moved_in, own_first_reported_at = own_first, own_last_reported_at = own_last,
  own_reported_by = new.own_reported_by, healed_at = new.healed_at
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[], %(reports)s::bigint[], %(first)s::timestamptz[],
            %(last)s::timestamptz[], %(reported_by)s::bigint[], %(moved_in)s::bigint[], %(own_first)s::timestamptz[],
            %(own_last)s::timestamptz[], %(own_reported_by)s::bigint[], %(healed_at)s::timestamptz[])
  AS new (conversation, key, reports, first, last, reported_by, moved_in, own_first, own_last, own_reported_by,
          healed_at)
WHERE outcome.environment_id = %(environment)s AND outcome.conversation_id = new.conversation
  AND outcome.outcome_key = new.key
"""
DELETE_OUTCOMES = """
DELETE FROM outcomes_outcome AS outcome USING unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS ref (id, key)
WHERE outcome.environment_id = %(environment)s AND outcome.conversation_id = ref.id AND outcome.outcome_key = ref.key
"""
