"""Earlier mistakes of the learner on unfamiliar APIs, each with the smallest traffic that shows it."""

import pytest
from support.lessons import learn, template
from support.witness_hub import Hub, make_witness, observe_get

from affidavit._json import ABSENT
from affidavit._paths.learner import Learner
from affidavit._paths.templates import retemplate
from affidavit._witness.intake import erase_data

NAMES = ("amber-otter", "jane-doe", "brisk-falcon", "lunar", "acme_corp", "harbor")


def leaks(path_template, *values):
    """Return whether a template is fully decided and shows one of the values."""
    return not path_template.undecided and any(value in path_template.path for value in values)


def test_a_listed_value_is_not_sent_even_if_a_property_name_contains_it():
    learner = learn(
        ("GET /labels", [{"name": "members"}]), ("GET /teams/17", {"members": 1}), ("DELETE /labels/members", ABSENT)
    )
    assert not leaks(learner.template("/labels/members"), "members")


def test_a_value_among_values_is_not_sent_even_if_a_property_name_contains_it():
    names = ("vault", "dune", "amber-otter")
    learner = learn(("GET /accounts/17", {"vault": 1}), *((f"PUT /pools/{name}", {"size": 3}) for name in names))
    assert not leaks(learner.template("/pools/vault"), "vault")


@pytest.mark.parametrize("ending", ["", "/leave"])
def test_a_value_that_begins_with_a_verb_is_not_sent(ending):
    rooms = ("fetch-orders-room-1", "fetch-orders-room-2", "send-room-1")
    learner = learn(*((f"GET /v1/channels/{room}{ending}", {"status": 200}) for room in rooms))
    for room in rooms:
        assert not leaks(learner.template(f"/v1/channels/{room}{ending}"), room)


@pytest.mark.parametrize("constant", ["0", "_", "-"])
def test_a_value_between_two_constants_is_not_sent(constant):
    calls = [f"/publish/k-5f2a9c7e01b3d/{constant}/{name}/{constant}" for name in NAMES]
    learner = learn(*((f"GET {path}", [1, "Sent"]) for path in calls))
    for path, name in zip(calls, NAMES, strict=True):
        assert not leaks(learner.template(path), name)


@pytest.mark.parametrize("names", [NAMES, ("mg.acme.example",), ("DOMAIN.TEST", "lunar.example")])
def test_a_tenant_or_domain_after_the_version_is_not_sent(names):
    parts = ("parcels", "claims", "bounces")
    learner = learn(
        *((f"GET /v3/{name}/{part}", [{"weight": 1, "made": ""}]) for name in names for part in parts),
        *((f"GET /v3/{part}", [dict.fromkeys(parts, 1)]) for part in ("routes", "lists")),
        *((f"GET /v3/{part}/17", dict.fromkeys(parts, 1)) for part in ("routes", "lists")),
    )
    for name in names:
        assert not leaks(learner.template(f"/v3/{name}/parcels"), name)
    assert template(learner, "/v3/routes/17") == "/v3/routes/{routeId}"


def test_fixed_words_among_numbers_stay_literals():
    ticket = {"ticket": {"id": 1, "subject": ""}}
    learner = learn(
        *((f"GET /api/v2/tickets/{number}.json", ticket) for number in (17, 4711, 33)),
        ("GET /api/v2/tickets/me.json", {"user": {"role": ""}}),
        ("GET /api/v2/tickets/show_many.json", {"tickets": [], "count": 2}),
    )
    assert template(learner, "/api/v2/tickets/17.json") == "/api/v2/tickets/{ticketId}"
    for word in ("me.json", "show_many.json"):
        path_template = learner.template(f"/api/v2/tickets/{word}")
        assert (path_template.path, path_template.undecided) == (f"/api/v2/tickets/{word}", ())


def test_literals_that_are_sent_are_less_likely_to_be_values_than_those_held_back():
    learner = learn(
        ("GET /teams", [{"name": "storm", "members": 4}]),
        ("GET /teams/17/members", [{"name": ""}]),
        ("GET /lounges/ann-marie/seats", ABSENT),
    )
    name = learner.judge("/lounges/ann-marie/seats")[1]
    words = [learner.judge("/teams/17/members")[index] for index in (0, 2)]
    assert max(word.probability for word in words) < 0.1 <= name.probability


@pytest.mark.parametrize("pattern", ["/{}", "/api/{}", "/Customers('{}')", "/p;owner={}", "/v1/Customers(%27{}%27)"])
@pytest.mark.parametrize("number", [1, 6])
def test_a_live_witness_without_routes_sends_no_name(pattern, number):
    witness = make_witness(hub := Hub())
    for name in NAMES[:number]:
        observe_get(witness, pattern.format(name), {"clicks": 1})
    witness.flush()
    witness.close()
    assert [name for name in NAMES if any(name.encode() in body for body in hub.bodies)] == []


@pytest.mark.parametrize(
    ("path", "expected", "types"),
    [
        ("/Customers('anna')", "/Customers('{customerId}')", {"customerId": "string"}),
        ("/Customers(17)/Orders", "/Customers({customerId})/Orders", {"customerId": "integer"}),
        ("/parcels;owner=anna/notes", "/parcels;owner={ownerId}/notes", {"ownerId": "string"}),
        ("/Customers%28%27anna%27%29", "/Customers('{customerId}')", {"customerId": "string"}),
        ("/Customers('anna%20(b)')", "/Customers('{customerId}')", {"customerId": "string"}),
        ("/Customers('anna(1)b').json", "/Customers('{customerId}').json", {"customerId": "string"}),
        ("/Customers('anna", "/Customers({customerId}", {"customerId": "string"}),
        ("/Customers()", "/Customers()", {}),
        ("/parcels;owner%3Danna/notes", "/parcels;owner={ownerId}/notes", {"ownerId": "string"}),
        (
            "/parcels;owner=(anna;b);notes=7",
            "/parcels;owner={ownerId};notes={noteId}",
            {"ownerId": "string", "noteId": "integer"},
        ),
    ],
)
def test_a_value_inside_a_segment_becomes_a_parameter(path, expected, types):
    customers = [{"customers": 1, "parcels": 2, "orders": 3, "notes": ""}]
    learner = learn((f"GET {path}", customers), ("GET /Customers", customers), ("GET /parcels", customers))
    path_template = learner.template(path)
    assert (path_template.path, dict(path_template.parameters)) == (expected, types)


@pytest.mark.parametrize("value", ["anna@example.com", "7f3a9c1e-5b2d-4c6a-8f00-112233445566"])
@pytest.mark.parametrize("segment", ["Customers(17){}", "parcels;{}=1", "parcels;owner=1;{}=", "Customers('a'){}.json"])
def test_data_beside_a_value_inside_a_segment_makes_all_of_it_a_parameter(segment, value):
    path = f"/customers/{segment.format(value)}"
    assert retemplate(path, {}).path == "/customers/{customerId}"
    assert learn((f"GET {path}", ABSENT)).template(path).path == "/customers/{customerId}"
    assert value not in erase_data(path)


def test_a_judgement_names_its_signs_with_their_weights():
    judgement = learn(("GET /teams/storm", {"slug": "storm"})).judge("/teams/storm")[1]
    assert judgement.signs["value of an identifying property of its own exchange"] > 1
    assert judgement.probability > 0.8


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_many_unknown_words_after_a_single_id_are_not_sent(method):
    names = [f"{first}{second}nt" for first in "bcdfghjk" for second in "aeo"]
    learner = learn(*((f"{method} /orders/17/{name}", ABSENT) for name in names))
    for name in names:
        assert not leaks(learner.template(f"/orders/17/{name}"), name)


def test_unknown_words_after_several_ids_are_literals():
    names = [f"{first}{second}nt" for first in "bcdfghjk" for second in "aeo"]
    learner = learn(*((f"GET /orders/{number}/{name}", {name: 1}) for number in (17, 33, 48) for name in names))
    assert template(learner, f"/orders/17/{names[0]}") == f"/orders/{{orderId}}/{names[0]}"


def test_an_unknown_word_that_was_only_refused_is_not_sent():
    learner = learn(
        *((f"GET /v1/data_sets/{number}", {"size": 1}) for number in range(17, 40)),
        *((f"GET /v1/{word}", [{"id": 17}]) for word in ("audit_logs", "user_groups", "rate_limits")),
    )
    learner.learn("DELETE", "/v1/data_sets/malformed_id", 400)
    assert "never answered with success" in learner.judge("/v1/data_sets/malformed_id")[2].signs
    assert not leaks(learner.template("/v1/data_sets/malformed_id"), "malformed")


def test_a_common_word_of_apis_is_a_literal_even_if_no_property_has_it():
    learner = learn(("GET /crates/17/history", [{"weight": 1}]))
    path_template = learner.template("/crates/17/history")
    assert (path_template.path, path_template.undecided) == ("/crates/{crateId}/history", ())


def test_capital_letters_in_an_api_without_them_are_a_sign_of_a_value():
    learner = learn(*((f"GET /{word}", []) for word in ("orders", "users", "reports")), ("GET /events/Search", {}))
    signs = learner.judge("/events/Search")[1].signs
    assert "capital letters unlike the words of the API" in signs
    assert "a word of many APIs" not in signs


def test_an_untrained_learner_holds_back_the_first_segment_too():
    assert Learner().template("/jane-doe/notes").undecided == (0, 1)


def test_the_name_of_a_source_file_is_not_sent():
    files = ("check.yml", "release.yml", "nightly.yaml", "1122")
    body = {"id": 5, "name": "Build", "state": "active"}
    learner = learn(*((f"GET /actions/workflows/{name}", body) for name in files), ("GET /actions/runs/17", {"id": 17}))
    for name in files:
        assert not leaks(learner.template(f"/actions/workflows/{name}"), name)


@pytest.mark.parametrize("path", ["/openapi.yaml", "/v1/openapi.yaml", "/api/schema.yaml"])
def test_the_description_of_an_api_is_no_value(path):
    learner = learn((f"GET {path}", ABSENT), ("GET /v1/orders/17", {"id": 17}), ("GET /v1/orders", [{"id": 17}]))
    assert template(learner, path) == path


def test_two_names_that_are_joined_by_dots_are_not_sent():
    ranges = ("main...develop", "develop..main", "topic...main")
    learner = learn(*((f"GET /compare/{names}", {"status": "ahead", "commits": []}) for names in ranges))
    for names in ranges:
        assert not leaks(learner.template(f"/compare/{names}"), names)
