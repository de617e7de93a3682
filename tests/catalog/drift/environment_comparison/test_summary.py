"""The headline of a comparison of environments speaks of clients only if each difference that it counts breaks them."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from catalog.change_kinds import BOTH, CONSUMER, NOBODY, PRODUCER
from catalog.drift.environment_comparison.summary import summarize_comparison

CERTAINTY = st.sampled_from(["certain", "probable", "uncertain"])
DIFFERENCES = st.lists(st.tuples(CERTAINTY, st.sampled_from([NOBODY, CONSUMER, PRODUCER, BOTH])), max_size=6)


def difference(number, certainty, breaks):
    return SimpleNamespace(
        method="GET",
        path="/orders",
        change=SimpleNamespace(part="200", pointer=f"/{number}", breaks=breaks, kind="type"),
        is_reset=False,
        is_certain=certainty == "certain",
        is_probable=certainty == "probable",
        is_of_few_calls=False,
    )


def summarize(differences):
    return summarize_comparison([difference(number, *facts) for number, facts in enumerate(differences)])


@given(DIFFERENCES)
def test_the_headline_names_clients_if_all_that_it_counts_breaks_them(differences):
    summary = summarize(differences)
    breaking = {
        certainty: [breaks for given, breaks in differences if given == certainty and breaks != NOBODY]
        for certainty in ("certain", "probable")
    }
    counted = breaking["certain"] or breaking["probable"]
    assert summary.is_for_clients == (PRODUCER not in counted)
    assert (summary.breaking, summary.probably_breaking) == (len(breaking["certain"]), len(breaking["probable"]))


def test_a_compatible_difference_does_not_hide_that_a_probable_one_breaks_the_server():
    assert not summarize([("certain", NOBODY), ("probable", PRODUCER)]).is_for_clients
