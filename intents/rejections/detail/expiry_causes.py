"""Why an intent may have been expired: the likelier causes first, each with what speaks for or against it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from wire.format_numbers import count_noun

AROUND_WORDS = "within half an hour"  # the quarter hour of the rejection, the one before and the one after


@dataclass(frozen=True)
class ExpiryFacts:
    """What is stored about an expired call.

    rejected_at: the time of the rejection, by the clock of its backend.
    ended_at: when the last intent expired that the hub minted for the call before the rejection; None if there is none.
    intents: how many intents the hub minted for the call before the rejection.
    earlier_rejections: how often the same call had been rejected before.
    accepted, accepted_alike: calls that backends of the environment accepted around that time, in all and of the same
        operation. Which backend accepted them is not stored.
    expired_alike: rejections of other calls that the same key reported as expired around that time.
    """

    rejected_at: datetime
    ended_at: datetime | None
    intents: int
    earlier_rejections: int
    accepted: int
    accepted_alike: int
    expired_alike: int

    @property
    def was_valid(self) -> bool:
        """Return whether the last known intent was valid at the reported time: then the backend got another intent."""
        return self.ended_at is not None and self.rejected_at <= self.ended_at

    @property
    def late_by(self) -> timedelta | None:
        """Return how long the last known intent had been expired; None if it was valid, or if none is known."""
        return None if self.ended_at is None or self.was_valid else self.rejected_at - self.ended_at


@dataclass(frozen=True)
class Cause:
    """A possible cause.

    evidence: what is stored for or against it.
    proof: what would show it.
    """

    title: str
    evidence: str
    proof: str


def list_causes(facts: ExpiryFacts) -> Sequence[Cause]:
    """Return the possible causes, the likelier ones first."""
    weighted = [_weigh_delay(facts), _weigh_retry(facts), _weigh_clock(facts)]
    if facts.ended_at is None:
        weighted.append((0, _describe_signer()))
    return [cause for _, cause in sorted(weighted, key=lambda pair: -pair[0])]


def _weigh_delay(facts: ExpiryFacts) -> tuple[int, Cause]:
    weight, evidence = 2, "No intent of this call is stored here, so that its age is not known."
    if facts.was_valid:
        weight, evidence = 0, "Against it: the last intent that the hub minted for this call was still valid."
    elif facts.late_by is not None:
        span = _format_span(facts.late_by)
        weight, evidence = 3, f"By the backend's clock it came {span} after the last intent minted for it had ended."
    title = "The call came late: it had waited in a queue, or for a person"
    return weight, Cause(title, evidence, "The platform's log: how long after the intent was minted the call was sent.")


def _weigh_retry(facts: ExpiryFacts) -> tuple[int, Cause]:
    weight, evidence = 1, "No earlier rejection of this call is stored. Whether it was accepted before is not stored."
    if facts.was_valid:
        weight = 5
        minted = "1 intent was" if facts.intents == 1 else f"{facts.intents:,} intents were"
        evidence = f"{minted} minted for this call, and the last one was still valid."
    elif facts.earlier_rejections:
        weight, evidence = 4, f"This call had been rejected {_format_times(facts.earlier_rejections)} before."
    title = "A retry was sent with the intent of an earlier attempt"
    proof = "The backend's log: an earlier delivery of the same toolCallId with the same header."
    return weight, Cause(title, evidence, proof)


def _weigh_clock(facts: ExpiryFacts) -> tuple[int, Cause]:
    """Return the weight and the cause. Reported times come from the same clock: if it is ahead, calls seem late."""
    weight, evidence = 1, f"No call of this environment was accepted {AROUND_WORDS}."
    if facts.accepted_alike:
        weight = 0
        evidence = (
            f"Against it: {count_noun(facts.accepted_alike, 'call')} of the same operation passed {AROUND_WORDS}."
        )
    elif facts.accepted:
        calls = count_noun(facts.accepted, "call")
        evidence = f"{calls} of this environment passed {AROUND_WORDS}; by which backend is not stored."
    if facts.expired_alike:
        weight += 3 if not facts.accepted else 0
        more_calls = count_noun(facts.expired_alike, "call").replace(" ", " more ")
        evidence += f" The same key reported {more_calls} as expired then."
    if facts.late_by is not None:
        evidence += f" It would have to be ahead by {_format_span(facts.late_by)} or more."
    title = "The clock of this backend is ahead"
    proof = "The backend's clock beside one that NTP sets. Reports do not tell how much clocks differ."
    return weight, Cause(title, evidence, proof)


def _describe_signer() -> Cause:
    title = "The signer's clock is behind, or it signs for a very short time"
    evidence = "This hub did not mint the intent, or deleted it since: the platform may sign intents itself."
    return Cause(title, evidence, "The header in the inspector: issuedAt and expiresAt, beside the time of receipt.")


def _format_span(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    for unit_seconds, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit_seconds:
            return f"{seconds // unit_seconds} {unit}"
    return f"{seconds} s" if seconds else "less than a second"


def _format_times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
