"""Ask a Redis as the stores have to, and warn about one that evicts keys: a store then forgets, and nobody sees it."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from affidavit._async_arguments import require_value
from affidavit._errors import StoreUnavailable

_log = logging.getLogger("affidavit.protection")


class RedisCalls:
    """The calls of one store to the Redis of `client`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._has_checked = False

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return the answer to a question, a function of the client. Raises StoreUnavailable, whatever failed."""
        try:
            answer = require_value(question(self._client))
        except Exception as failure:  # the client's own error classes are not known here, and none may let a call pass
            raise StoreUnavailable("the Redis of the store cannot be reached or written to") from failure
        if not self._has_checked:
            self._has_checked = True
            _warn_of_eviction(self._client)
        return answer


def _warn_of_eviction(client: Any) -> None:
    """Log a warning if the Redis of a client may evict keys. Never fail: the client may not be allowed to ask."""
    with suppress(Exception):
        memory = client.info("memory")
        nodes = memory.values() if "maxmemory" not in memory else [memory]  # a client of a cluster asks each node
        for node in nodes:
            if node["maxmemory"] and node["maxmemory_policy"] != "noeviction":
                _log.warning(
                    "the Redis of a store may evict its keys (maxmemory-policy %s): then an intent that was used "
                    "passes once more, and a retry of a call that has run runs again. Set maxmemory-policy noeviction",
                    node["maxmemory_policy"],
                )
                return
