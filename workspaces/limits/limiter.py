"""Limit requests per key and per address: each process spends tokens that it leased from the shared buckets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from wire.errors import DomainError
from workspaces.limits.leases import Grant, Lease, Limit

MAX_LEASES = 10_000  # with more, a process forgets all of them and asks the buckets again
ADDRESS_PREFIX_BITS = 64  # of IPv6: all addresses with the same prefix usually belong to one customer


class RateLimited(DomainError):
    """The bucket is empty."""

    code = "rate-limited"
    retry_after = 1  # each bucket gets at least one token a second

    def __init__(self, limit: Limit) -> None:
        whose = "This key" if limit.name == "key" else "Your address, without a valid key,"
        super().__init__(f"{whose} may send {limit.rate} requests a second. Wait a second, then send this one again.")
        # draft-ietf-httpapi-ratelimit-headers: q requests in a window of w seconds; r of them remain for t seconds.
        self.headers = {
            "RateLimit-Policy": f'"{limit.name}";q={limit.rate};w=1',
            "RateLimit": f'"{limit.name}";r=0;t={self.retry_after}',
        }


class BucketStore(Protocol):
    def grant(self, bucket_name: str, limit: Limit, max_tokens: int) -> Grant: ...


class Limiter:
    """The leases of one process."""

    def __init__(self, store: BucketStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._leases: dict[str, Lease] = {}
        self._lock = threading.Lock()

    def take(self, bucket_name: str, limit: Limit) -> bool:
        """Take one token; return False if there is none."""
        asked_at = self._clock()
        with self._lock:
            lease = self._find_lease(bucket_name)
            if lease.spend(asked_at):
                return True
            if asked_at < lease.refused_until:
                return False
            block = lease.choose_block(limit)
        grant = self._store.grant(bucket_name, limit, block)
        with self._lock:
            return lease.add(grant, limit, block=block, asked_at=asked_at)

    def _find_lease(self, bucket_name: str) -> Lease:
        if len(self._leases) >= MAX_LEASES and bucket_name not in self._leases:
            self._leases.clear()
        return self._leases.setdefault(bucket_name, Lease())


@cache
def get_limiter() -> Limiter:
    """Return this process's limiter."""
    return Limiter(import_string(settings.TOKEN_BUCKETS)())


def limit_key(key_id: int) -> None:
    """Count a request of this key; raises RateLimited."""
    _take_or_refuse(f"key:{key_id}", Limit("key", settings.RATE_LIMIT))


def limit_address(address: str) -> None:
    """Count a request without a valid key from this address; raises RateLimited."""
    _take_or_refuse(f"address:{find_network(address)}", Limit("address", settings.ADDRESS_RATE_LIMIT))


def find_network(address: str) -> IPv4Network | IPv6Network | None:
    """Return what counts as one address: the address itself, or the /64 of IPv6. None if it is no address."""
    try:
        bits = 32 if ip_address(address).version == 4 else ADDRESS_PREFIX_BITS
        return ip_network(f"{address.partition('%')[0]}/{bits}", strict=False)
    except ValueError:
        return None


def _take_or_refuse(bucket_name: str, limit: Limit) -> None:
    if limit.rate and not get_limiter().take(bucket_name, limit):
        raise RateLimited(limit)
