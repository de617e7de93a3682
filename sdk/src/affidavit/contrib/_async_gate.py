"""Admit a request and settle its call on an event loop of asyncio, whether or not the stores wait for something."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from affidavit._protection.deliveries import StoredResponse
from affidavit._protection.protection import MAX_HASHED_IN_LOOP, Admission, Call, Demands, Protection

_T = TypeVar("_T")


class AsyncGate:
    """One request, verified at most once. An adapter's own gate reads the request and sends the refusal.

    admission: None until the call is admitted.
    """

    def __init__(self, protection: Protection) -> None:
        self.admission: Admission | None = None
        self._protection = protection
        self._is_in_memory = protection.is_in_memory
        self._step: asyncio.Task[Any] | None = None  # the last step in a thread, until its result is used

    async def _admit_call(self, call: Call, demands: Demands) -> StoredResponse | None:
        """Return the response to send in place of the app's; None if the call may run."""
        if self._is_in_memory and len(call.body) <= MAX_HASHED_IN_LOOP:
            return self._admit(call, demands)
        return await self._run_in_thread(self._admit, call, demands)

    def _admit(self, call: Call, demands: Demands) -> StoredResponse | None:
        result = self._protection.admit(call, demands)
        if isinstance(result, StoredResponse):
            return result
        self.admission = result
        return None

    async def abandon(self) -> None:
        """Abandon an admitted call that ended without a complete response: it raised, or the client is gone."""
        if self._step is not None or self._is_unsettled():
            # A task of its own, because frameworks such as Starlette cancel a cancelled request again and again.
            await asyncio.shield(asyncio.create_task(self._abandon_unsettled()))

    def _is_unsettled(self) -> bool:
        return self.admission is not None and not self.admission.is_settled

    async def _abandon_unsettled(self) -> None:
        if self._step is not None and not self._step.done():
            await asyncio.wait({self._step})
        if self.admission is not None and not self.admission.is_settled:
            await self._run_step(self.admission.abandon)

    async def _run_step(self, step: Callable[..., _T], *args: Any) -> _T:
        """Run a step of the protection in a thread, or at once if the step waits for nothing, which is faster."""
        return step(*args) if self._is_in_memory else await self._run_in_thread(step, *args)

    async def _run_in_thread(self, step: Callable[..., _T], *args: Any) -> _T:
        """Run a step in a thread to its end, even if the request is cancelled: see `abandon`."""
        self._step = task = asyncio.create_task(asyncio.to_thread(step, *args))
        result = await asyncio.shield(task)
        if self._step is task:
            self._step = None
        return result
