"""Warn about a Redis that evicts keys when it is full: then a store forgets intents and calls, and nothing shows it."""

import logging
from contextlib import suppress
from typing import Any

_log = logging.getLogger("affidavit.protection")


def warn_of_eviction(client: Any) -> None:
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
