"""Ask a Redis as the stores have to, and warn about one that evicts keys: a store then forgets, and nobody sees it."""

import logging
import math
import time
from collections.abc import Callable
from typing import Any

from affidavit._async_arguments import require_value
from affidavit._errors import StoreUnavailable

CHECK_EVERY = 60.0
"""Seconds after which a store looks again whether its Redis may evict keys: the policy can change while it runs."""

_log = logging.getLogger("affidavit.protection")


class RedisCalls:
    """The calls of one store to the Redis of `client`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._checked_at = -math.inf
        self._evicting_policy = ""

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return the answer to a question, a function of the client. Raises StoreUnavailable, whatever failed."""
        try:
            answer = require_value(question(self._client))
        except Exception as failure:  # the client's own error classes are not known here, and none may let a call pass
            raise StoreUnavailable("the Redis of the store cannot be reached or written to") from failure
        if time.monotonic() >= self._checked_at + CHECK_EVERY:
            self._checked_at = time.monotonic()
            self._warn_of_eviction()
        return answer

    def _warn_of_eviction(self) -> None:
        """Log a warning if the Redis may evict keys, unless the last check found the same. Never fail."""
        try:
            policy = _find_evicting_policy(self._client)
        except Exception:  # the client may not be allowed to ask
            return
        if policy and policy != self._evicting_policy:
            _log.warning(
                "the Redis of a store may evict its keys (maxmemory-policy %s): then an intent that was used passes "
                "once more, and a retry of a call that has run runs again. Set maxmemory-policy noeviction",
                policy,
            )
        self._evicting_policy = policy


def _find_evicting_policy(client: Any) -> str:
    """Return the policy by which the Redis of a client, or a node of its cluster, may evict keys; empty if none may."""
    memory = client.info("memory")
    nodes = memory.values() if "maxmemory" not in memory else [memory]  # a client of a cluster asks each node
    policies = (node["maxmemory_policy"] for node in nodes if node["maxmemory"])
    return next((str(policy) for policy in policies if policy != "noeviction"), "")
