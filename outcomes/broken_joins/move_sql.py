"""The statements of moves. Like those of reports they lock conversations, then outcomes, then tallies, all sorted."""

# Broken joins that a sibling knows; which of them are its own to take is for the diagnosis to say.
KNOWN_THERE = """
SELECT outcome.id, reported.conversation_id
FROM outcomes_outcome AS outcome
JOIN outcomes_conversation AS reported ON reported.id = outcome.conversation_id
JOIN outcomes_conversation AS known
  ON known.environment_id = %(target)s AND known.conversation_id = reported.conversation_id
    AND known.started_at IS NOT NULL
WHERE outcome.environment_id = %(source)s AND outcome.broken
  AND outcome.first_reported_at >= %(start)s AND outcome.first_reported_at < %(end)s
"""

# A registration in flight heals all outcomes of its conversation at once: it must wait for us, or we for it.
LOCK_CONVERSATIONS = """
SELECT conversation.id FROM outcomes_conversation AS conversation
WHERE id = ANY(%(conversations)s) ORDER BY conversation_id FOR UPDATE
"""
CONVERSATIONS_OF = "SELECT DISTINCT conversation_id FROM outcomes_outcome WHERE id = ANY(%(outcomes)s)"

# What is to move, as it stands once it is locked.
TAKE = """
SELECT outcome.id, outcome.conversation_id, known.id, known.started_at, outcome_key, reports, first_reported_at,
       last_reported_at, reported_by
FROM outcomes_outcome AS outcome
JOIN outcomes_conversation AS reported ON reported.id = outcome.conversation_id
JOIN outcomes_conversation AS known
  ON known.environment_id = %(target)s AND known.conversation_id = reported.conversation_id
WHERE outcome.id = ANY(%(outcomes)s) AND outcome.broken
ORDER BY reported.conversation_id, outcome_key FOR UPDATE OF outcome
"""

# A row for each place where there is none yet, without reports so far; the others are locked in the same pass, so that
# whoever reports meanwhile waits for us or we for them, never both.
MAKE_ROOM = """
INSERT INTO outcomes_outcome AS outcome
  (environment_id, conversation_id, outcome_key, reports, first_reported_at, last_reported_at, broken)
SELECT %(environment)s, conversation.id, outcome_key, 0, %(now)s, %(now)s, started_at IS NULL
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS place (id, outcome_key)
JOIN outcomes_conversation AS conversation USING (id)
ORDER BY conversation.conversation_id, outcome_key COLLATE "C"
ON CONFLICT (conversation_id, outcome_key) DO UPDATE SET reports = outcome.reports
"""
LOCK_OUTCOMES = """
SELECT outcome.id, outcome.conversation_id, outcome.outcome_key, started_at, registered_at, reports,
       first_reported_at, last_reported_at, reported_by, moved_in, own_first_reported_at, own_last_reported_at,
       own_reported_by, healed_at
FROM unnest(%(conversations)s::bigint[], %(keys)s::text[]) AS place (id, outcome_key)
JOIN outcomes_conversation AS conversation USING (id)
JOIN outcomes_outcome AS outcome
  ON outcome.conversation_id = place.id AND outcome.outcome_key = place.outcome_key
ORDER BY conversation.conversation_id, outcome.outcome_key FOR UPDATE OF outcome
"""

REWRITE = """
UPDATE outcomes_outcome AS outcome SET
  reports = given.reports, first_reported_at = first, last_reported_at = last, reported_by = given.reported_by,
  moved_in = given.moved_in, own_first_reported_at = own_first, own_last_reported_at = own_last,
  own_reported_by = given.own_reported_by, healed_at = given.healed_at
FROM unnest(%(ids)s::bigint[], %(reports)s::bigint[], %(first)s::timestamptz[], %(last)s::timestamptz[],
            %(reported_by)s::bigint[], %(moved_in)s::bigint[], %(own_first)s::timestamptz[],
            %(own_last)s::timestamptz[], %(own_reported_by)s::bigint[], %(healed_at)s::timestamptz[])
  AS given (id, reports, first, last, reported_by, moved_in, own_first, own_last, own_reported_by, healed_at)
WHERE outcome.id = given.id
"""
DELETE = "DELETE FROM outcomes_outcome WHERE id = ANY(%(ids)s)"
