"""A word in capitals is not sent if a body of its exchange contains it and the API's own words are in small letters."""

from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn

PARTS = ("chart", "company", "dividends", "earnings", "news", "price", "quote", "stats")
CODE = st.from_regex("[A-Z]{3,5}", fullmatch=True)


@given(CODE, st.integers(1, len(PARTS)), st.sampled_from(["stock", "stocks", "quotes"]))
def test_a_code_in_capitals_that_its_answer_has_does_not_leave(code, number, before):
    learner = learn_quotes(code, before, PARTS[:number])
    result = learner.template(f"/v1/{before}/{code}/{PARTS[0]}")
    assert result.undecided or code not in result.path.split("/")


def test_a_code_does_not_leave_if_it_names_a_property_and_most_paths_go_through_it():
    result = learn_quotes("MSFT", "stock", PARTS).template("/v1/stock/MSFT/chart")
    assert result.undecided or "MSFT" not in result.path.split("/")


def learn_quotes(code, before, parts):
    return learn(
        ("GET /v1/exchanges", [{"region": "x"}]),
        ("GET /v1/fx/latest", [{"region": "x", "market": 1}]),
        *((f"GET /v1/{before}/{word}/list", [{"market": 1}]) for word in ("market", "cards", "lists")),
        *((f"GET /v1/{before}/{code}/{part}", {"symbol": code, code: {"price": 1}}) for part in parts),
    )


def test_a_word_in_capitals_that_no_body_has_may_stay():
    learner = learn(
        *((f"GET /v1/{word}", [{"size": 1}]) for word in ("orders", "reports", "invoices", "users", "teams")),
        ("GET /v1/SCIM/users", [{"size": 1}]),
        ("GET /v1/SCIM/groups", [{"size": 1}]),
    )
    assert "SCIM" in learner.template("/v1/SCIM/users").path.split("/")
