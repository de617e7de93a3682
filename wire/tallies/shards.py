"""SQL of sharded counters: writers at the same moment use different shards, readers sum them."""

SHARDS = 8  # writers that can add to one bucket without waiting for each other's commit
# The first shard that no other transaction uses, locked until ours ends; any shard if all are in use.
FREE_SHARD = f"""coalesce(
  (SELECT shard FROM generate_series(0, {SHARDS - 1}) AS shard
   WHERE pg_try_advisory_xact_lock(%(environment)s::int, shard) LIMIT 1),
  pg_backend_pid() %% {SHARDS})"""
