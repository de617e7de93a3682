"""How many threads of a web process run Django, and how many of these threads slow answers may use."""

from __future__ import annotations

import asyncio

THREADS = 4
# The beginnings of addresses with slow answers, each with the number of threads that these answers may use. The others
# are free for other requests. Downloads take seconds to compute; signing in waits for the OpenID Connect provider.
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
            slow_slots = [slot for prefix, slot in self._slow.items() if path.startswith(prefix)]
            for slot in [*slow_slots, self._all]:
                await slot.acquire()
                slots.append(slot)
        except BaseException:  # above all a cancellation, when the client has gone
            for slot in slots:
                slot.release()
            raise
        return slots
