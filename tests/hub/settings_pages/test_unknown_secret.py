"""When the hub says that no backend seems to have the secret that signs now. In these tests this is the alarm.

Calls with the previous secret neither raise nor end it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.settings_pages.unknown_secret import CallsOfSecret, seems_unknown
from intents.rejections.call_outage.call_outage_rule import MIN_OUTAGE

OLD, NEW = "gas_old1", "gas_new1"
CALLS = st.lists(st.sampled_from([OLD, NEW, "rejected"]), max_size=40)
BEFORE = st.tuples(st.integers(0, 50), st.integers(0, 5000)).map(lambda pair: (min(pair), max(pair)))


def judge(calls, before):
    """Return whether the secret NEW seems unknown after these calls. Each call is an accepted secret, or "rejected"."""
    return seems_unknown(CallsOfSecret(calls.count(NEW), calls.count("rejected"), *before))


@pytest.mark.parametrize(
    ("accepted", "rejected", "before", "is_unknown"),
    [
        (0, 5, (0, 990), True),
        (0, 4, (0, 990), False),  # one caller may repeat a mistake
        (0, 5, (0, 0), True),  # there were no calls before
        (1, 500, (0, 990), False),  # one backend has the secret; the page names the others
        (None, 500, (0, 990), False),  # calls are accepted, but reports do not say with which secret
        (0, 10, (900, 1000), False),  # before, nearly every call had this rejection, too
    ],
)
def test_a_secret_seems_unknown_if_none_of_its_calls_is_accepted(accepted, rejected, before, is_unknown):
    assert seems_unknown(CallsOfSecret(accepted, rejected, *before)) == is_unknown


@given(CALLS, BEFORE, st.integers(1, 100))
def test_calls_of_the_previous_secret_never_end_the_alarm(calls, before, more):
    assert judge(calls + more * [OLD], before) == judge(calls, before)


@given(CALLS, BEFORE)
def test_one_accepted_call_of_the_new_secret_ends_it(calls, before):
    assert not judge([*calls, NEW], before)


@given(CALLS, BEFORE, st.integers(1, 100))
def test_more_rejections_never_end_it(calls, before, more):
    if judge(calls, before):
        assert calls.count("rejected") >= MIN_OUTAGE
        assert judge(calls + more * ["rejected"], before)
