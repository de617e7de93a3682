"""Path templates learned from traffic: which segments are parameters, which are not, and which are undecided."""

import itertools

import pytest
from support.lessons import learn, template

from affidavit._json import ABSENT
from affidavit._paths.learner import Learner

# --- strong signs: what bodies say about a segment


def test_a_segment_that_is_a_value_in_its_own_response_is_a_parameter():
    learner = learn(("GET /teams/storm", {"slug": "storm", "members": 4}))
    result = learner.template("/teams/storm")
    assert (result.path, dict(result.parameters), result.undecided) == ("/teams/{teamId}", {"teamId": "string"}, ())


def test_a_segment_that_is_a_value_in_its_own_request_is_a_parameter():
    learner = learn(("PUT /teams/storm", ABSENT, {"handle": "storm"}))
    assert template(learner, "/teams/storm") == "/teams/{teamId}"


@pytest.mark.parametrize("name", ["type", "status", "event_type", "currentState", "kind", "permissions"])
def test_the_value_of_an_enumeration_is_no_parameter(name):
    learner = learn(("GET /teams/storm", {name: "storm"}))
    assert template(learner, "/teams/storm") == "/teams/storm"


@pytest.mark.parametrize("segment", ["members", "member", "billing-plans", "billingPlan", "plan"])
def test_a_segment_that_is_a_word_of_a_property_name_is_a_literal_and_decided(segment):
    learner = learn(("GET /teams/17", {"members": 4, "billing_plan": "x"}), (f"GET /teams/{segment}", {"count": 1}))
    result = learner.template(f"/teams/{segment}")
    assert (result.path, result.undecided) == (f"/teams/{segment}", ())


def test_a_known_word_that_is_a_value_in_its_response_is_undecided_until_a_sibling_is_a_parameter():
    learner = learn(("GET /labels/members", {"name": "members"}), ("GET /teams/17", {"members": 4}))
    result = learner.template("/labels/members")
    assert (result.path, result.undecided) == ("/labels/members", (1,))
    learner.learn("GET", "/labels/urgent", 200, response={"name": "urgent"})
    assert template(learner, "/labels/members") == "/labels/{labelId}"


def test_a_value_that_occurs_twice_in_a_path_is_the_last_occurrence():
    """Of two equal segments, the last one is taken to be the value that the response holds."""
    learner = learn(
        ("GET /v1/pools/9/shard/shard", {"shard_name": "shard"}),
        ("GET /v1/pools/9/shard/north", {"shard_name": "north"}),
    )
    path = template(learner, "/v1/pools/9/shard/shard")
    assert path == template(learner, "/v1/pools/9/shard/north")
    assert path.endswith("}")


def test_a_known_word_that_a_collection_lists_is_undecided_among_other_values():
    learner = learn(
        ("GET /labels", [{"name": "members"}, {"name": "urgent"}]),
        ("GET /teams/17", {"members": 4}),
        ("GET /labels/urgent", {"name": "urgent"}),
        ("DELETE /labels/members", ABSENT),
    )
    assert learner.template("/labels/members").undecided == (1,)


def test_listed_values_are_not_sent_even_if_most_are_words_of_the_api():
    answer, names = {"enabled": True}, ("email", "phone", "duo")
    learner = learn(
        ("GET /factors", [{"name": name} for name in names]),
        ("GET /users/17", {"email": "", "phone": ""}),
        *((f"PUT /factors/{name}", answer) for name in names),
    )
    for name in names:
        path_template = learner.template(f"/factors/{name}")
        assert path_template.path == "/factors/{factorId}" or path_template.undecided == (1,)


def test_a_single_value_among_literals_after_a_parameter_is_undecided():
    learner = learn(
        ("GET /clusters/17", {"nodes": 1, "pools": 2}),
        ("GET /clusters/17/nodes", [{"size": 1}]),
        ("GET /clusters/17/pools", [{"zone": 1}]),
        ("GET /clusters/17/kubeconfig", {"name": "kubeconfig", "content": ""}),
    )
    result = learner.template("/clusters/17/kubeconfig")
    assert (result.path, result.undecided) == ("/clusters/{clusterId}/kubeconfig", (2,))


def test_a_value_that_a_collection_lists_is_a_parameter():
    learner = learn(("GET /boards", [{"name": "storm"}, {"name": "reef"}]), ("GET /boards/storm/cards", {"cards": []}))
    assert template(learner, "/boards/storm/cards") == "/boards/{boardId}/cards"


def test_listed_values_with_different_operations_below_them_stay_literals():
    learner = learn(
        ("GET /adapters", [{"id": "mailgun"}, {"id": "twilio"}]),
        ("GET /adapters/mailgun/accounts", {"region": "eu", "domain": "x", "dkim": True}),
        ("GET /adapters/twilio/accounts", {"phone": "1", "voice": {"on": True}, "sms": 1}),
    )
    assert template(learner, "/adapters/mailgun/accounts") == "/adapters/mailgun/accounts"


# --- siblings and shapes


def test_an_unknown_sibling_of_a_parameter_with_the_same_shape_is_a_parameter():
    learner = learn(
        ("GET /files/8a1f0c2d9b", {"size": 1, "owner": "x", "checksum": "y"}),
        ("GET /files/readme", {"size": 2, "owner": "x", "checksum": "z"}),
    )
    assert template(learner, "/files/readme") == "/files/{fileId}"


def test_an_unknown_sibling_of_a_parameter_with_another_shape_is_a_literal():
    learner = learn(
        ("GET /files/8a1f0c2d9b", {"size": 1, "owner": "x", "checksum": "y"}),
        ("GET /files/quota", {"limit": 1, "used": 2, "left": 3}),
    )
    result = learner.template("/files/quota")
    assert (result.path, result.undecided) == ("/files/quota", ())


@pytest.mark.parametrize("empty", [{"cards": [], "total": 0, "next": None}, []])
def test_an_empty_list_has_the_shape_of_a_full_one(empty):
    card = {"suit": 1, "rank": 2, "art": "", "joker": False}
    full = {"cards": [card], "total": 1, "next": {"page": 2}} if empty else [card]
    learner = learn(
        *((f"GET /decks/{name}/cards", full) for name in ("storm", "reef")),
        ("GET /decks/storm", {"name": "storm"}),
        ("GET /decks/reef", {"name": "reef"}),
        ("GET /decks/dune/cards", empty),
    )
    result = learner.template("/decks/dune/cards")
    assert (result.path, result.undecided) == ("/decks/{deckId}/cards", ())


def test_many_siblings_with_empty_lists_stay_undecided():
    names = [f"{first}{second}nt" for first, second in itertools.product("bcdfg", "aeo")]
    result = learn(*((f"GET /moods/{name}", []) for name in names)).template(f"/moods/{names[0]}")
    assert (result.path, result.undecided) == (f"/moods/{names[0]}", (1,))


def test_a_value_of_some_body_is_undecided_even_if_its_shape_differs():
    learner = learn(
        ("GET /teams", [{"name": "storm"}, {"name": "reef"}]),
        ("GET /teams/reef", {"name": "reef", "members": 4, "colour": {"hue": 1}}),
        ("GET /teams/storm", {"moved": True, "seats": [{"row": 1}], "until": 2}),
    )
    result = learner.template("/teams/storm")
    assert (result.path, result.undecided) == ("/teams/storm", (1,))


def test_a_deleted_sibling_of_parameters_is_a_parameter_even_if_it_begins_with_a_verb():
    learner = learn(("GET /bases/storm", {"name": "storm"}), ("DELETE /bases/test-base", ABSENT))
    assert template(learner, "/bases/test-base") == "/bases/{baseId}"


def test_many_unknown_siblings_with_one_shape_are_undecided():
    names = [f"{first}{second}nt" for first, second in itertools.product("bcdfg", "aeo")]
    learner = learn(*((f"GET /moods/{name}", {"hue": 1, "tempo": 2, "weather": {"wet": True}}) for name in names))
    assert learner.template(f"/moods/{names[0]}").undecided == (1,)


def test_a_segment_without_any_sign_after_a_parameter_is_a_literal():
    result = learn(("POST /orders/17/dunning", {"ok": True})).template("/orders/17/dunning")
    assert (result.path, result.undecided) == ("/orders/{orderId}/dunning", ())


def test_very_many_segments_without_any_sign_are_undecided():
    names = [f"{first}{second}nt" for first, second in itertools.product("bcdfghjk", "aeo")]
    result = learn(*((f"POST /orders/17/{name}", ABSENT) for name in names)).template(f"/orders/17/{names[0]}")
    assert result.undecided == (2,)


@pytest.mark.parametrize("scaffold", ["/api/v2", "/v1.2", "/api", "/v4beta"])
def test_version_and_scaffold_are_never_parameters_even_if_bodies_hold_them(scaffold):
    word = scaffold.rpartition("/")[2]
    learner = learn((f"GET {scaffold}/teams/storm", {"name": "storm", "id": word, "version": word}))
    assert template(learner, f"{scaffold}/teams/storm") == f"{scaffold}/teams/{{teamId}}"


def test_the_first_word_of_a_path_is_a_literal_even_if_some_body_holds_it():
    learner = learn(("GET /api/v2/guards/9", {"integration_id": "guards"}), ("GET /api/v2/posts/9", {"id": 9}))
    assert template(learner, "/api/v2/guards/9") == "/api/v2/guards/{guardId}"


def test_a_first_segment_that_is_a_value_of_its_responses_is_undecided():
    learner = learn(*((f"GET /{name}/9", {"bucket": name}) for name in ("storm", "reef", "dune")))
    assert learner.template("/reef/9").undecided == (0,)


TENANTS = ("acme", "globex", "initech")
ORDERS, CLAIMS = [{"total": 1, "placed": ""}], [{"reason": "", "open": True}]


@pytest.mark.parametrize("scaffold", ["", "/api/v2"])
def test_first_segments_followed_by_the_same_operations_are_not_shown(scaffold):
    learner = learn(*((f"GET /{tenant}{scaffold}/orders", ORDERS) for tenant in TENANTS))
    for tenant in (*TENANTS, "umbrella"):
        path_template = learner.template(f"/{tenant}{scaffold}/orders")
        assert path_template.path == f"/{{id}}{scaffold}/orders" or 0 in path_template.undecided


def test_if_most_first_segments_are_undecided_the_others_are_too():
    learner = learn(*((f"GET /{tenant}/orders", ORDERS) for tenant in TENANTS), ("GET /umbrella/claims", CLAIMS))
    assert 0 in learner.template("/umbrella/claims").undecided


def test_ordinary_first_segments_are_literals_even_if_ids_and_verbs_follow_all():
    learner = learn(
        *((f"GET /{name}/17", {"number": 1, "made": ""}) for name in ("orders", "claims", "parcels")),
        *((f"GET /{name}/search", {"found": 1, "page": ""}) for name in ("orders", "claims", "parcels")),
        ("GET /orders/17/lines", [{"sum": 1}]),
    )
    templates = [learner.template(path) for path in ("/orders/17", "/claims/search", "/orders/17/lines")]
    assert [template.path for template in templates] == [
        "/orders/{orderId}",
        "/claims/search",
        "/orders/{orderId}/lines",
    ]
    assert [template.undecided for template in templates] == [(), (), ()]


@pytest.mark.parametrize("version", ["1", "2010-04-01"])
def test_a_number_or_date_at_the_start_of_all_paths_is_a_version(version):
    learner = learn((f"GET /{version}/boards/17", {"id": 17}), (f"GET /{version}/cards", []))
    result = learner.template(f"/{version}/boards/17")
    assert (result.path, result.undecided) == (f"/{version}/boards/{{boardId}}", ())


@pytest.mark.parametrize("other", ["3", "4711", "2011-05-02"])
def test_different_numbers_or_dates_at_the_start_are_data(other):
    learner = learn(("GET /2/orders", [{"total": 1}]), (f"GET /{other}/orders", [{"total": 1}]))
    assert template(learner, "/2/orders") == "/{id}/orders"
    assert template(learner, f"/{other}/orders") == "/{id}/orders"


def test_a_day_that_nothing_follows_is_no_version():
    assert template(learn(("GET /2026-01-02", {"rate": 1})), "/2026-01-02") == "/{id}"


# --- undecided segments


def test_a_segment_without_any_sign_is_undecided_and_listed_by_its_index():
    result = learn(("GET /api/lounges/storm", ABSENT)).template("/api/lounges/storm")
    assert (result.path, result.undecided) == ("/api/lounges/storm", (2,))


def test_later_exchanges_decide_an_undecided_segment():
    learner = learn(("GET /lounges/storm/seats", {"seats": 4}))
    assert learner.template("/lounges/storm/seats").undecided == (1,)
    learner.learn("GET", "/lounges/storm", 200, response={"name": "storm"})
    result = learner.template("/lounges/storm/seats")
    assert (result.path, result.undecided) == ("/lounges/{loungeId}/seats", ())


def test_a_new_segment_takes_the_place_of_a_known_parameter():
    """A segment that was never seen is a parameter where another segment is known to be one."""
    learner = learn(("GET /teams/storm", {"name": "storm"}))
    assert template(learner, "/teams/reef") == "/teams/{teamId}"


def test_an_untrained_learner_decides_by_the_form_of_segments():
    result = Learner().template("/orders/17/notes?x=1")
    assert (result.path, result.undecided) == ("/orders/{orderId}/notes", (0, 2))


@pytest.mark.parametrize("status", [404, 405, 501])
def test_refused_requests_teach_nothing(status):
    learner = Learner()
    for name in ("storm", "reef", "dune"):
        learner.learn("GET", f"/teams/{name}", status, response={"name": name})
    assert learner.template("/teams/storm").undecided == (0, 1)
