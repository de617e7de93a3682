"""How the page of the audit log describes an entry."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workspaces.audit.describe import describe_action, describe_facts, space_name

CONFIRMATION = "24d7bbea-f782-4a73-bb2a-e397b59cd4c7"
NAMES = st.sampled_from(
    ["operation", "place", "days", "before", "after", "from", "to", "source", "target", "label", "annotation", "query",
     "confirmationId", "environment", "scopes", "other"]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(2, 10**6) | st.text("abc", min_size=1, max_size=6)
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(NAMES, SCALARS, max_size=3)


def write_line(facts) -> str:
    """Return the facts of an entry as the page writes them, in one line."""
    return " · ".join(
        " ".join(filter(None, [fact.label, f"{fact.before} {fact.verb}" if fact.is_change else "", str(fact.value)]))
        for fact in describe_facts(facts)
    )


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, ""),
        (
            {"operation": "POST /orders", "confirmationId": CONFIRMATION},
            "POST /orders · confirmation 24d7bbea",
        ),
        (
            {
                "days": 7,
                "place": "200 /giftWrap",
                "change": "new operation",
                "operation": "GET /cart",
                "environment": "production",
            },
            "GET /cart · change new operation · location 200 /giftWrap · for 7 days · environment production",
        ),
        (
            {"days": 1, "page": "outcomes", "query": "range=30d&q=x", "environment": "production"},
            "page outcomes · filters range 30d, q x · for 1 day · environment production",
        ),
        ({"days": 7, "page": "outcomes", "query": ""}, "page outcomes · for 7 days"),
        (
            {"after": {"rejections": 30, "broken_joins": None}, "before": {"rejections": 90, "broken_joins": 60}},
            "rejections 90 → 30 · broken joins 60 → keep all",
        ),
        ({"to": "editor", "from": "viewer", "member": "bo"}, "member bo · viewer → editor"),
        (
            {"label": ["", "Production"], "audience": ["shop", "bookshop"], "environment": "production"},
            "environment production · label none → Production · audience shop → bookshop",
        ),
        (
            {"before": {"alert": "over 5 %", "targets": "ops"}, "after": {"alert": "over 8 %", "targets": "ops"}},
            "alert over 5 % → over 8 % · targets ops",
        ),
        ({"annotation": "Deploy 42", "before": "Deploy 41"}, "text Deploy 41 → Deploy 42"),
        (
            {"method": "GET", "source": "/a/1", "target": "/a/{id}", "matching": True},
            "GET: /a/1 shown as /a/{id} · with every other path that matches it",
        ),
        ({"alert": "over 5 %", "target": "ops"}, "alert over 5 % · target ops"),
        ({"key": "pk_fHZeFdp5S", "scopes": []}, "key pk_fHZeFdp5S · scopes none"),
        ({"from": "staging"}, "from staging"),
        ({"v1Until": None}, "version 1 accepted until None"),
        ({"newFact": "x"}, "new fact x"),
    ],
)
def test_facts_are_one_line_of_words(facts, line):
    assert write_line(facts) == line


def test_a_long_id_is_shortened_and_still_there_as_a_whole():
    [fact] = describe_facts({"confirmationId": CONFIRMATION})
    assert (fact.value, fact.full_id) == ("24d7bbea", CONFIRMATION)
    [fact] = describe_facts({"confirmationId": "24d7"})
    assert (fact.value, fact.full_id) == ("24d7", "")


@example({"days": False})
@given(st.dictionaries(NAMES, VALUES, max_size=8))
def test_no_value_is_lost(facts):
    line = write_line(facts) + " ".join(fact.full_id for fact in describe_facts(facts))

    def check(value) -> None:
        match value:
            case dict():
                for item in value.values():
                    check(item)
            case list():
                for item in value:
                    check(item)
            case int() if not isinstance(value, bool):
                assert str(value) in line or f"{value:,}" in line
            case _:
                assert str(value) in line

    check(facts)


def test_an_action_does_not_say_a_word_twice():
    assert describe_action("confirmation confirmed") == "call confirmed"
    assert describe_action("key created") == "key created"


@pytest.mark.parametrize(
    ("name", "words"),
    [("previousSignsUntil", "previous signs until"), ("broken_joins", "broken joins"), ("invited by", "invited by")],
)
def test_a_name_is_written_with_spaces(name, words):
    assert space_name(name) == words
