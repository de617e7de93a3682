"""Reports on their way: each goes with the same bytes until the hub has taken it, or refused it for good."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from affidavit._errors import HubUnreachable, ReportError

from .responses import is_passing


class Parcel(NamedTuple):
    """The body of one report. weight: how many of the things that are counted it tells. key: its Idempotency-Key."""

    body: bytes
    weight: int
    key: str = ""


class Outbox:
    """Delivers parcels in order, from one thread at a time.

    post: sends one; raises ReportError. lose: is told the weight that the hub refused for good, and why. delivered: the
    weight that it took.
    """

    def __init__(self, post: Callable[[Parcel], object], lose: Callable[[int, ReportError], None]) -> None:
        self._post, self._lose = post, lose
        self._unsent: deque[Parcel] = deque()
        self._is_closed = False
        self.delivered = 0

    @property
    def weight(self) -> int:
        """What waits in here."""
        return sum(parcel.weight for parcel in tuple(self._unsent))

    def send(self, pack: Callable[[], Iterable[Parcel]]) -> None:
        """Send what waits, then what `pack` makes; what cannot be taken now stays.

        Nothing more is packed while something waits: what is not packed can still be summed up.
        """
        self._deliver()
        if not (self._unsent or self._is_closed):
            self._unsent.extend(pack())
            self._deliver()

    def give_up(self) -> int:
        """Forget what waits and take no more; the weight of what is forgotten."""
        self._is_closed = True
        given_up, self._unsent = self._unsent, deque()
        return sum(parcel.weight for parcel in given_up)

    def _deliver(self) -> None:
        while self._unsent:
            parcel, fault = self._unsent[0], None
            try:
                self._post(parcel)
            except ReportError as failure:
                if isinstance(failure, HubUnreachable) or is_passing(failure):
                    return
                fault = failure
            except Exception as failure:  # a transport of the host's own; its faults must not end this thread
                fault = ReportError(f"The transport failed: {type(failure).__name__}.")
            if not self._unsent:  # given up meanwhile, and counted so
                return
            self._unsent.popleft()
            if fault is None:
                self.delivered += parcel.weight
            else:
                self._lose(parcel.weight, fault)
