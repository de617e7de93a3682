"""The order of the possible causes of an expired intent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.rejections.detail.expiry_causes import ExpiryFacts, list_causes

REJECTED_AT = datetime(2026, 3, 4, 10, 20, tzinfo=UTC)
UNKNOWN = ExpiryFacts(
    REJECTED_AT, ended_at=None, intents=0, earlier_rejections=0, accepted=40, accepted_alike=9, expired_alike=0
)
LATE = replace(UNKNOWN, ended_at=REJECTED_AT - timedelta(minutes=7), intents=1)
VALID = replace(UNKNOWN, ended_at=REJECTED_AT + timedelta(minutes=2), intents=1)
DELAY, RETRY, CLOCK, SIGNER = (
    "The call came late",
    "A retry was sent",
    "The clock of this backend",
    "The signer's clock",
)


@pytest.mark.parametrize(("facts", "order"), [
    (UNKNOWN, [DELAY, RETRY, CLOCK, SIGNER]),
    (LATE, [DELAY, RETRY, CLOCK]),
    (replace(LATE, earlier_rejections=2), [RETRY, DELAY, CLOCK]),
    (replace(UNKNOWN, accepted=0, accepted_alike=0, expired_alike=6), [CLOCK, DELAY, RETRY, SIGNER]),
    (replace(LATE, accepted=0, accepted_alike=0, expired_alike=6), [CLOCK, DELAY, RETRY]),
    (VALID, [RETRY, DELAY, CLOCK]),
    (replace(VALID, accepted_alike=0), [RETRY, CLOCK, DELAY]),
])  # fmt: skip
def test_the_likelier_causes_come_first(facts, order):
    titles = [cause.title for cause in list_causes(facts)]
    assert [title.startswith(start) for title, start in zip(titles, order, strict=True)] == [True] * len(order), titles


def test_each_cause_says_what_speaks_for_it_or_against_it():
    evidence = {cause.title[:9]: cause.evidence for cause in list_causes(replace(LATE, earlier_rejections=1))}
    assert evidence["The call "] == (
        "By the backend's clock it came 7 min after the last intent minted for it had ended."
    )
    assert evidence["A retry w"] == "This call had been rejected once before."
    assert evidence["The clock"] == (
        "Against it: 9 calls of the same operation passed within half an hour."
        " It would have to be ahead by 7 min or more."
    )


@given(
    st.none() | st.integers(-10_000, 10_000), st.integers(0, 3), st.integers(0, 3),
    st.integers(0, 3), st.integers(0, 3), st.integers(0, 3),
)  # fmt: skip
def test_every_cause_has_its_evidence_and_what_would_prove_it(seconds, intents, earlier, accepted, alike, expired):
    ended_at = None if seconds is None else REJECTED_AT + timedelta(seconds=seconds)
    causes = list_causes(ExpiryFacts(REJECTED_AT, ended_at, intents, earlier, accepted + alike, alike, expired))
    assert len(causes) == (4 if ended_at is None else 3)
    assert all(cause.evidence.endswith(".") and cause.proof.endswith(".") for cause in causes)
