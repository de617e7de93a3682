"""The store of deliveries in Redis; a `DeliveryStore` (contract §3)."""

from typing import Any

from affidavit._stores.redis_calls import RedisCalls
from affidavit._stores.store_keys import store_key

from .deliveries import Claim, Delivery, Finished, StoredResponse, make_owner, resolve_known_call
from .kept_responses import RETENTION
from .leases import LEASE

# KEYS[1] is the key of the delivery. Redis runs each script as one atomic step. Clients send a script again by
# themselves if its answer is lost. Then the owner has the claim already, or has finished with the same response.
_REDIS_CLAIM = """
local record = redis.call('HMGET', KEYS[1], 'fingerprint', 'response', 'lease', 'owner')
local is_over = record[1] == ARGV[1] and not record[2] and tonumber(record[3]) < tonumber(ARGV[3])
if not record[1] or is_over or record[4] == ARGV[2] then
    redis.call('HSET', KEYS[1], 'fingerprint', ARGV[1], 'owner', ARGV[2], 'lease', ARGV[4])
    redis.call('EXPIRE', KEYS[1], ARGV[5])
    return {}
end
return {record[1], record[2] or '', record[3]}
"""
_REDIS_IF_RUNNING = """
local record = redis.call('HMGET', KEYS[1], 'owner', 'response')
if record[1] ~= ARGV[1] or record[2] then return 0 end
"""
_REDIS_RENEW = f"{_REDIS_IF_RUNNING} redis.call('HSET', KEYS[1], 'lease', ARGV[2]) return 1"
_REDIS_FINISH = f"""
local finished = redis.call('HMGET', KEYS[1], 'owner', 'response')
if finished[1] == ARGV[1] and finished[2] == ARGV[2] then return 1 end
{_REDIS_IF_RUNNING}
redis.call('HSET', KEYS[1], 'response', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
"""
_REDIS_ABANDON = f"{_REDIS_IF_RUNNING} redis.call('DEL', KEYS[1]) return 1"


class RedisDeliveries:
    """A store in Redis, through a client object that you pass, like `RedisNonces`."""

    def __init__(self, client: Any, *, prefix: str = "affidavit:delivery:") -> None:
        self._redis = RedisCalls(client)
        self._prefix = prefix

    def claim(self, workspace: str, tool_call_id: str, fingerprint: str, *, now: float) -> Delivery:
        """See DeliveryStore."""
        claim = Claim(store_key(workspace, tool_call_id), make_owner())
        lease = repr(now), repr(now + LEASE)
        state = self._run(_REDIS_CLAIM, claim, fingerprint, claim.owner, *lease, RETENTION)
        if not state:
            return claim
        known_fingerprint, response, lease_until = (_decode(part) for part in state)
        finished_call = Finished(StoredResponse.from_text(response)) if response else None
        return resolve_known_call(known_fingerprint, fingerprint, finished_call, float(lease_until), now)

    def renew(self, claim: Claim, *, now: float) -> bool:
        """See DeliveryStore."""
        return bool(self._run(_REDIS_RENEW, claim, claim.owner, repr(now + LEASE)))

    def finish(self, claim: Claim, response: StoredResponse, *, now: float) -> bool:
        """See DeliveryStore."""
        return bool(self._run(_REDIS_FINISH, claim, claim.owner, response.to_text(), RETENTION))

    def abandon(self, claim: Claim) -> None:
        """See DeliveryStore."""
        self._run(_REDIS_ABANDON, claim, claim.owner)

    def _run(self, script: str, claim: Claim, *arguments: object) -> Any:
        key = self._prefix + claim.key
        return self._redis.ask(lambda client: client.eval(script, 1, key, *arguments))


def _decode(part: bytes | str) -> str:
    """Return a part of an answer of Redis as text. Some clients return bytes, depending on their settings."""
    return part.decode("utf-8") if isinstance(part, bytes) else part
