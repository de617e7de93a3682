"""Unsent reports: each is retried with the same bytes until the hub stores it or refuses its content."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from affidavit._errors import ReportError

from .availability_log import Availability
from .responses import is_refusal


class Parcel(NamedTuple):
    """The body of one report.

    weight: how many counted items it holds.
    key: its Idempotency-Key.
    """

    body: bytes
    weight: int
    key: str = ""


class Outbox:
    """Deliver parcels in order, from one thread at a time.

    post: sends one parcel; raises ReportError.
    on_loss: called with the weight of a lost parcel and with the error. A parcel is lost if the hub refuses it for its
        content, or if `post` raises anything but a ReportError.
    delivered_weight: the weight that the hub has stored.

    After any other error, such as one from a proxy or about a wrong key, the parcel is kept and sent again.
    """

    def __init__(
        self,
        post: Callable[[Parcel], object],
        on_loss: Callable[[int, ReportError], None],
        availability: Availability,
    ) -> None:
        self._post, self._on_loss, self._availability = post, on_loss, availability
        self._unsent: deque[Parcel] = deque()
        self._is_closed = False
        self.delivered_weight = 0

    @property
    def weight(self) -> int:
        """Return the weight of all unsent parcels."""
        return sum(parcel.weight for parcel in tuple(self._unsent))

    def send(self, pack: Callable[[], Iterable[Parcel]]) -> None:
        """Send the unsent parcels, then the parcels that `pack` builds; keep those that cannot be delivered now.

        `pack` is not called while parcels are unsent: until items are packed, they can be summed up with later ones.
        """
        self._deliver()
        if not (self._unsent or self._is_closed):
            self._unsent.extend(pack())
            if self._is_closed:  # `give_up` ran meanwhile
                self._unsent.clear()
            self._deliver()

    def give_up(self) -> None:
        """Discard the unsent parcels and accept no more."""
        self._is_closed = True
        self._unsent.clear()

    def _deliver(self) -> None:
        while self._unsent:
            parcel, fault = self._unsent[0], None
            try:
                self._post(parcel)
            except ReportError as error:
                if not is_refusal(error):
                    self._availability.note_failure(error)
                    return
                fault = error
            except Exception as error:  # the host's own transport may raise anything, and must not end this thread
                fault = ReportError(f"The transport failed: {type(error).__name__}.")
            self._availability.note_answer()
            if not self._unsent:  # `give_up` ran meanwhile, and its caller has counted the parcel as lost
                return
            self._unsent.popleft()
            if fault is None:
                self.delivered_weight += parcel.weight
            else:
                self._on_loss(parcel.weight, fault)
