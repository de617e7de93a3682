"""How many threads of a web process run Django, and how many of them answers that take long may use."""

from __future__ import annotations

import asyncio

THREADS = 4
# How many threads answers to addresses that begin like this may use, so that other requests are answered meanwhile:
# downloads take seconds to compute, and signing in waits for the OpenID Connect provider.
SLOW_PATHS = {"/api/catalog": 2, "/account/oidc": 1}


class ThreadSlots:
    """The threads that requests may use, as semaphores."""

    def __init__(self, threads: int) -> None:
        self._all = asyncio.Semaphore(threads)
        self._slow = {path: asyncio.Semaphore(threads) for path, threads in SLOW_PATHS.items()}

    async def acquire(self, path: str) -> list[asyncio.Semaphore]:
        """Wait until a thread may be used for this path. Return the semaphores to release afterwards."""
        slots: list[asyncio.Semaphore] = []
        try:
            for slot in [*(slots for prefix, slots in self._slow.items() if path.startswith(prefix)), self._all]:
                await slot.acquire()
                slots.append(slot)
        except BaseException:  # above all a cancellation, when the client has gone
            for slot in slots:
                slot.release()
            raise
        return slots
