"""Path templates learned from traffic: which segments are parameters, which are not, and which are undecided."""

import itertools

import pytest
from support.lessons import learned, template

from affidavit._json import ABSENT
from affidavit._paths.learner import Learner

# --- the strong signs


def test_a_segment_that_its_own_answer_names_is_a_parameter():
    learner = learned(("GET /teams/storm", {"slug": "storm", "members": 4}))
    result = learner.template("/teams/storm")
    assert (result.path, dict(result.parameters), result.undecided) == ("/teams/{teamId}", {"teamId": "string"}, ())


def test_a_segment_that_its_own_request_names_is_a_parameter():
    learner = learned(("PUT /teams/storm", ABSENT, {"handle": "storm"}))
    assert template(learner, "/teams/storm") == "/teams/{teamId}"


@pytest.mark.parametrize("name", ["type", "status", "event_type", "currentState", "kind", "permissions"])
def test_the_value_of_an_enumeration_is_no_parameter(name):
    learner = learned(("GET /teams/storm", {name: "storm"}))
    assert template(learner, "/teams/storm") == "/teams/storm"


@pytest.mark.parametrize("segment", ["members", "member", "billing-plans", "billingPlan", "plan"])
def test_a_segment_that_is_a_word_of_a_property_name_is_a_literal_and_decided(segment):
    learner = learned(("GET /teams/17", {"members": 4, "billing_plan": "x"}), (f"GET /teams/{segment}", {"count": 1}))
    result = learner.template(f"/teams/{segment}")
    assert (result.path, result.undecided) == (f"/teams/{segment}", ())


def test_a_word_that_names_its_own_answer_is_undecided_until_a_parameter_stands_beside_it():
    learner = learned(("GET /labels/members", {"name": "members"}), ("GET /teams/17", {"members": 4}))
    result = learner.template("/labels/members")
    assert (result.path, result.undecided) == ("/labels/members", (1,))
    learner.learn("GET", "/labels/urgent", 200, response={"name": "urgent"})
    assert template(learner, "/labels/members") == "/labels/{labelId}"


def test_a_value_that_stands_twice_in_a_path_is_the_last_of_both():
    learner = learned(
        ("GET /v1/pools/9/shard/shard", {"shard_name": "shard"}),
        ("GET /v1/pools/9/shard/north", {"shard_name": "north"}),
    )
    path = template(learner, "/v1/pools/9/shard/shard")
    assert path == template(learner, "/v1/pools/9/shard/north")
    assert path.endswith("}")


def test_a_word_that_a_collection_lists_is_held_back_beside_others():
    learner = learned(
        ("GET /labels", [{"name": "members"}, {"name": "urgent"}]),
        ("GET /teams/17", {"members": 4}),
        ("GET /labels/urgent", {"name": "urgent"}),
        ("DELETE /labels/members", ABSENT),
    )
    assert learner.template("/labels/members").undecided == (1,)


def test_what_a_collection_lists_is_not_sent_though_most_of_it_are_words_of_the_api():
    answer, names = {"enabled": True}, ("email", "phone", "duo")
    learner = learned(
        ("GET /factors", [{"name": name} for name in names]),
        ("GET /users/17", {"email": "", "phone": ""}),
        *((f"PUT /factors/{name}", answer) for name in names),
    )
    for name in names:
        path_template = learner.template(f"/factors/{name}")
        assert path_template.path == "/factors/{factorId}" or path_template.undecided == (1,)


def test_behind_a_parameter_a_value_alone_among_literals_is_undecided():
    learner = learned(
        ("GET /clusters/17", {"nodes": 1, "pools": 2}),
        ("GET /clusters/17/nodes", [{"size": 1}]),
        ("GET /clusters/17/pools", [{"zone": 1}]),
        ("GET /clusters/17/kubeconfig", {"name": "kubeconfig", "content": ""}),
    )
    result = learner.template("/clusters/17/kubeconfig")
    assert (result.path, result.undecided) == ("/clusters/{clusterId}/kubeconfig", (2,))


def test_what_a_collection_lists_is_a_parameter_behind_it():
    learner = learned(
        ("GET /boards", [{"name": "storm"}, {"name": "reef"}]), ("GET /boards/storm/cards", {"cards": []})
    )
    assert template(learner, "/boards/storm/cards") == "/boards/{boardId}/cards"


def test_what_a_collection_lists_stays_apart_where_different_operations_stand_behind():
    learner = learned(
        ("GET /adapters", [{"id": "mailgun"}, {"id": "twilio"}]),
        ("GET /adapters/mailgun/accounts", {"region": "eu", "domain": "x", "dkim": True}),
        ("GET /adapters/twilio/accounts", {"phone": "1", "voice": {"on": True}, "sms": 1}),
    )
    assert template(learner, "/adapters/mailgun/accounts") == "/adapters/mailgun/accounts"


# --- siblings and shapes


def test_an_unknown_segment_beside_a_parameter_with_the_same_answer_is_not_sent():
    learner = learned(
        ("GET /files/8a1f0c2d9b", {"size": 1, "owner": "x", "checksum": "y"}),
        ("GET /files/readme", {"size": 2, "owner": "x", "checksum": "z"}),
    )
    assert learner.template("/files/readme").undecided == (1,)


def test_an_unknown_segment_with_another_answer_is_no_parameter():
    learner = learned(
        ("GET /files/8a1f0c2d9b", {"size": 1, "owner": "x", "checksum": "y"}),
        ("GET /files/quota", {"limit": 1, "used": 2, "left": 3}),
    )
    result = learner.template("/files/quota")
    assert (result.path, result.undecided) == ("/files/quota", ())


@pytest.mark.parametrize("empty", [{"cards": [], "total": 0, "next": None}, []])
def test_an_empty_list_makes_no_other_shape(empty):
    card = {"suit": 1, "rank": 2, "art": "", "joker": False}
    full = {"cards": [card], "total": 1, "next": {"page": 2}} if empty else [card]
    learner = learned(
        *((f"GET /decks/{name}/cards", full) for name in ("storm", "reef")),
        ("GET /decks/storm", {"name": "storm"}),
        ("GET /decks/reef", {"name": "reef"}),
        ("GET /decks/dune/cards", empty),
    )
    result = learner.template("/decks/dune/cards")
    assert (result.path, result.undecided) == ("/decks/{deckId}/cards", ())


def test_empty_lists_alone_make_no_operation_of_many_siblings():
    names = [f"{one}{two}nt" for one, two in itertools.product("bcdfg", "aeo")]
    result = learned(*((f"GET /moods/{name}", []) for name in names)).template(f"/moods/{names[0]}")
    assert (result.path, result.undecided) == (f"/moods/{names[0]}", (1,))


def test_a_segment_that_bodies_name_is_not_sent_though_its_answer_differs():
    learner = learned(
        ("GET /teams", [{"name": "storm"}, {"name": "reef"}]),
        ("GET /teams/reef", {"name": "reef", "members": 4, "colour": {"hue": 1}}),
        ("GET /teams/storm", {"moved": True, "seats": [{"row": 1}], "until": 2}),
    )
    result = learner.template("/teams/storm")
    assert (result.path, result.undecided) == ("/teams/storm", (1,))


def test_what_begins_with_an_action_is_undecided_beside_parameters_where_no_shape_tells():
    learner = learned(("GET /bases/storm", {"name": "storm"}), ("DELETE /bases/test-base", ABSENT))
    assert learner.template("/bases/test-base").undecided == (1,)


def test_one_shape_behind_many_unknown_siblings_is_not_sent():
    names = [f"{one}{two}nt" for one, two in itertools.product("bcdfg", "aeo")]
    learner = learned(*((f"GET /moods/{name}", {"hue": 1, "tempo": 2, "weather": {"wet": True}}) for name in names))
    assert learner.template(f"/moods/{names[0]}").undecided == (1,)


def test_behind_a_parameter_a_segment_without_any_sign_is_a_literal():
    result = learned(("POST /orders/17/dunning", {"ok": True})).template("/orders/17/dunning")
    assert (result.path, result.undecided) == ("/orders/{orderId}/dunning", ())


def test_very_many_segments_without_any_sign_are_undecided():
    names = [f"{one}{two}nt" for one, two in itertools.product("bcdfghjk", "aeo")]
    result = learned(*((f"POST /orders/17/{name}", ABSENT) for name in names)).template(f"/orders/17/{names[0]}")
    assert result.undecided == (2,)


@pytest.mark.parametrize("scaffold", ["/api/v2", "/v1.2", "/api", "/v4beta"])
def test_version_and_scaffold_are_never_parameters_whatever_bodies_hold(scaffold):
    word = scaffold.rpartition("/")[2]
    learner = learned((f"GET {scaffold}/teams/storm", {"name": "storm", "id": word, "version": word}))
    assert template(learner, f"{scaffold}/teams/storm") == f"{scaffold}/teams/{{teamId}}"


def test_the_first_word_of_a_path_is_no_parameter_because_some_body_holds_it():
    learner = learned(("GET /api/v2/guards/9", {"integration_id": "guards"}), ("GET /api/v2/posts/9", {"id": 9}))
    assert template(learner, "/api/v2/guards/9") == "/api/v2/guards/{guardId}"


def test_paths_that_begin_with_what_their_answers_name_are_not_sent():
    learner = learned(*((f"GET /{name}/9", {"bucket": name}) for name in ("storm", "reef", "dune")))
    assert learner.template("/reef/9").undecided == (0,)


TENANTS = ("acme", "globex", "initech")
ORDERS, CLAIMS = [{"total": 1, "placed": ""}], [{"reason": "", "open": True}]


@pytest.mark.parametrize("scaffold", ["", "/api/v2"])
def test_paths_that_begin_differently_and_go_on_alike_do_not_show_how_they_begin(scaffold):
    learner = learned(*((f"GET /{tenant}{scaffold}/orders", ORDERS) for tenant in TENANTS))
    for tenant in (*TENANTS, "umbrella"):
        path_template = learner.template(f"/{tenant}{scaffold}/orders")
        assert path_template.path == f"/{{id}}{scaffold}/orders" or 0 in path_template.undecided


def test_where_most_go_on_alike_the_others_are_undecided_too():
    learner = learned(*((f"GET /{tenant}/orders", ORDERS) for tenant in TENANTS), ("GET /umbrella/claims", CLAIMS))
    assert 0 in learner.template("/umbrella/claims").undecided


def test_ordinary_beginnings_are_literals_though_data_and_actions_follow_all():
    learner = learned(
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
def test_one_number_or_date_that_all_paths_begin_with_is_a_version(version):
    learner = learned((f"GET /{version}/boards/17", {"id": 17}), (f"GET /{version}/cards", []))
    result = learner.template(f"/{version}/boards/17")
    assert (result.path, result.undecided) == (f"/{version}/boards/{{boardId}}", ())


@pytest.mark.parametrize("other", ["3", "4711", "2011-05-02"])
def test_several_numbers_or_dates_at_the_beginning_are_data(other):
    learner = learned(("GET /2/orders", [{"total": 1}]), (f"GET /{other}/orders", [{"total": 1}]))
    assert template(learner, "/2/orders") == "/{id}/orders"
    assert template(learner, f"/{other}/orders") == "/{id}/orders"


def test_a_day_that_nothing_follows_is_no_version():
    assert template(learned(("GET /2026-01-02", {"rate": 1})), "/2026-01-02") == "/{id}"


# --- what cannot be decided


def test_where_nothing_tells_a_segment_is_undecided_and_named_by_its_index():
    result = learned(("GET /api/lounges/storm", ABSENT)).template("/api/lounges/storm")
    assert (result.path, result.undecided) == ("/api/lounges/storm", (2,))


def test_what_was_undecided_is_decided_when_more_arrives():
    learner = learned(("GET /lounges/storm/seats", {"seats": 4}))
    assert learner.template("/lounges/storm/seats").undecided == (1,)
    learner.learn("GET", "/lounges/storm", 200, response={"name": "storm"})
    result = learner.template("/lounges/storm/seats")
    assert (result.path, result.undecided) == ("/lounges/{loungeId}/seats", ())


def test_a_segment_never_seen_stands_for_the_parameter_that_is_known_there():
    learner = learned(("GET /teams/storm", {"name": "storm"}))
    assert template(learner, "/teams/reef") == "/teams/{teamId}"


def test_a_learner_that_has_seen_nothing_goes_by_form():
    result = Learner().template("/orders/17/notes?x=1")
    assert (result.path, result.undecided) == ("/orders/{orderId}/notes", (0, 2))


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_scanner_teaches_nothing(status):
    learner = Learner()
    for name in ("storm", "reef", "dune"):
        learner.learn("GET", f"/teams/{name}", status, response={"name": name})
    assert learner.template("/teams/storm").undecided == (0, 1)
