"""Token buckets in Redis, if the broker is Redis. While Redis does not answer, the buckets in the database are used."""

from __future__ import annotations

import logging
import time

from django.conf import settings
from redis import Redis, RedisError

from workspaces.limits.database_buckets import DatabaseBuckets
from workspaces.limits.leases import Grant, Limit

TIMEOUT_SECONDS = 0.5
PAUSE_SECONDS = 10  # how long Redis is not asked after it failed
REDIS_PREFIX = "affidavit:bucket:"
# The same as `grant_tokens`, in Lua, by the clock of Redis. A bucket that nobody uses is full again before it expires.
GRANT_TOKENS = """
local capacity, rate, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local stored = redis.call('HMGET', KEYS[1], 'tokens', 'refilled_at')
local level, refilled_at = capacity, now
if stored[1] then
  local before = tonumber(stored[2])
  level = math.min(capacity, tonumber(stored[1]) + rate * math.max(0, now - before))
  if before <= now + 1 then refilled_at = math.max(now, before) end
end
local granted = math.max(0, math.min(wanted, math.floor(level)))
local text = string.format('%.17g', level - granted)
redis.call('HSET', KEYS[1], 'tokens', text, 'refilled_at', string.format('%.6f', refilled_at))
redis.call('PEXPIRE', KEYS[1], 5000)
return {granted, text}
"""
log = logging.getLogger("affidavit.limits")


class RedisBuckets:
    """The buckets of the Redis at `url`."""

    def __init__(self, url: str = "") -> None:
        redis = Redis.from_url(
            url or settings.CELERY_BROKER_URL, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        )
        self._script = redis.register_script(GRANT_TOKENS)
        self._substitute = DatabaseBuckets()
        self._paused_until = 0.0

    def grant(self, bucket_name: str, limit: Limit, max_tokens: int) -> Grant:
        """Take at most `max_tokens` tokens out of the bucket."""
        if time.monotonic() >= self._paused_until:
            try:
                tokens, level = self._script([REDIS_PREFIX + bucket_name], [limit.capacity, limit.rate, max_tokens])
                return Grant(int(tokens), float(level))
            except RedisError as error:
                self._paused_until = time.monotonic() + PAUSE_SECONDS
                log.warning("Redis does not answer (%s): limits are counted in the database", type(error).__name__)
        return self._substitute.grant(bucket_name, limit, max_tokens)
