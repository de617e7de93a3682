"""Paths of a live witness: the route, or else a learned template that is held back while undecided."""

from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st
from support.witness_hub import Hub, make_witness, observe_get, wait_until

from affidavit._paths.learner import Learner
from affidavit._witness.intake import erase_data


def test_a_path_without_a_route_is_held_back_until_its_template_is_learned():
    witness = make_witness(hub := Hub())
    observe_get(witness, "/users/anna", {"login": 1})
    observe_get(witness, "/users/anna", {"login": 1})
    assert witness.flush()
    assert (hub.bodies, witness.stats.held_back) == ([], 2)
    observe_get(witness, "/users/berta", {"login": "berta"})
    observe_get(witness, "/users/carla", {"login": "carla"})
    assert witness.flush()
    assert (hub.counts, witness.stats.held_back) == ({("GET", "/users/{userId}", 200): 4}, 0)
    assert b"anna" not in hub.bodies[0]
    observe_get(witness, "/users/doris", {"login": "doris"})
    assert witness.flush()
    assert hub.counts == {("GET", "/users/{userId}", 200): 5}


def test_without_the_option_an_undecided_path_is_not_sent_even_at_the_end():
    for allowed in (False, True):
        witness = make_witness(hub := Hub(), send_undecided=allowed)
        observe_get(witness, "/users/anna", {"a": 1})
        witness.flush()
        witness.close()
        assert [entry.get("undecided") for entry in hub.entries] == ([[1]] if allowed else [])
        assert witness.stats.dropped == (0 if allowed else 1)


def test_an_undecided_segment_with_a_parameter_inside_is_not_named_because_the_hub_would_refuse_the_report():
    witness = make_witness(hub := Hub(), send_undecided=True)
    observe_get(witness, "/users/anna('7')", {"a": 1})
    observe_get(witness, "/pets/olo('7')/imi", {"a": 1})
    assert witness.flush()
    entries = {entry["path"]: entry.get("undecided") for entry in hub.entries}
    assert entries == {"/users/anna('{annaId}')": None, "/pets/olo('{oloId}')/imi": [2]}


def test_the_oldest_undecided_requests_are_dropped_first():
    witness = make_witness(hub := Hub(), max_operations=6)
    names = [a + b for a in "bcdfg" for b in ("olo", "imi", "unu")]
    for name in names:
        observe_get(witness, f"/pets/{name}", status=204)
        witness.flush()
    assert (witness.stats.held_back, witness.stats.dropped, hub.bodies) == (3, 12, [])
    assert {key.path for key in witness._intake._unrouted_operations} == {f"/pets/{name}" for name in names[-3:]}


def test_values_that_look_like_words_take_no_room_from_new_operations():
    witness = make_witness(hub := Hub(), max_operations=60)
    names = [f"{a}{b}{c}" for a in ("kalo", "miro", "tenu", "sibo") for b in "bdgkl" for c in ("ani", "oro", "ulu")]
    for name in names[:35]:
        observe_get(witness, f"/users/{name}", {"username": name})
    assert wait_until(lambda: hub.bodies)  # long before the interval is over
    for name in names[35:]:
        observe_get(witness, f"/users/{name}", {"username": name})
    for number in range(20):
        observe_get(witness, "/invoices/list" if number % 2 else "/reports", {"total": 1})
    assert witness.flush()
    assert witness.stats.dropped == 0
    assert hub.counts == {
        ("GET", "/users/{userId}", 200): 60, ("GET", "/invoices/list", 200): 10, ("GET", "/reports", 200): 10
    }  # fmt: skip


SEGMENTS = st.sampled_from([
    "orders", "v2", "api", "1.29", "17", "-3", "anna", "a@b.example", "550e8400-e29b-41d4-a716-446655440000",
    "order-1042", "2026-01-02", "deadbeef01", "x y", "%41", "é", "{id}", "", "192.168.17.4",
])  # fmt: skip


@given(st.lists(SEGMENTS, min_size=1, max_size=6), st.lists(st.lists(SEGMENTS, min_size=1, max_size=6), max_size=8))
def test_erasing_data_in_a_path_does_not_change_its_template(segments, learned):
    assume(segments != ["2026-01-02"])  # this path is erased, even if other paths begin with the date as a version
    learner = Learner()
    for other_segments in learned:
        learner.learn("GET", "/" + "/".join(other_segments), 200, response={"orders": ["anna"]})
    path = "/" + "/".join(segments)
    erased = erase_data(path)
    path_template, expected = learner.template(erased), learner.template(quote(path, safe="/%@-._~"))
    assert (path_template.path, path_template.undecided, dict(path_template.parameters)) == (
        expected.path, expected.undecided, dict(expected.parameters),
    )  # fmt: skip
    assert erase_data(erased) == erased
    assert not {"17", "a@b.example", "192.168.17.4"} & set(erased.split("/"))
    assert "2026-01-02" not in erased.split("/")[2:]  # the first segment may be a date that is a version


def test_ids_without_a_route_are_one_operation_from_the_beginning():
    witness = make_witness(hub := Hub())
    for number in range(50):
        observe_get(witness, f"/v2/orders/{number}/lines/7f3a9c1e-5b2d-4c6f-8a90-b1c2d3e4f5a6", {"n": number})
    witness.flush()
    assert hub.counts == {("GET", "/v2/orders/{orderId}/lines/{lineId}", 200): 50}
    assert len(witness._intake._unrouted_operations) == 1


def test_requests_of_a_scanner_are_ignored_and_counted():
    witness = make_witness(hub := Hub())
    for path in ("/wp-login.php", "/.env", "/orders/x/../..", "//", "x", "*", "/a" * 50, "/" + "b" * 3000):
        observe_get(witness, path, status=404)
    observe_get(witness, "/orders/17", {"id": 1})
    observe_get(witness, "/orders/18", {"fault": 1}, status=404)
    witness.observe("G ET", "/orders/1", 200)
    witness.observe("GET", "/orders/1", 101)
    witness.flush()
    assert hub.counts == {("GET", "/orders/{orderId}", 200): 1, ("GET", "/orders/{orderId}", 404): 1}
    assert witness.stats.ignored == 10


def test_a_route_that_is_no_template_is_left_to_the_learner():
    witness = make_witness(hub := Hub())
    observe_get(witness, "/orders/17", {"id": 1}, route="/(orders|carts)/([0-9]+)")
    witness.flush()
    assert [entry["path"] for entry in hub.entries] == ["/orders/{orderId}"]
