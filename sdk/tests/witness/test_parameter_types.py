"""Types of path parameters: the type that the router names, else the type that fits all observed values."""

import pytest
from support.witness_hub import Hub, make_witness, observe_get


def report_types(route, *requests):
    """Return the reported types of one route by status.

    requests: pairs of a raw path and a status.
    """
    witness = make_witness(hub := Hub())
    for path, status in requests:
        observe_get(witness, path, {"id": 1}, status, route=route)
    assert witness.flush()
    return {entry["status"]: {name: parameter["type"] for name, parameter in entry["parameters"].items()}
            for entry in hub.entries}  # fmt: skip


@pytest.mark.parametrize(("values", "kind"), [
    (["17", "4", "0"], "integer"), (["17", "seventeen"], "string"), (["007"], "string"), (["1.5"], "string"),
    (["1" * 30], "string"), (["%31%37"], "integer"), ([""], "string"),
])  # fmt: skip
@pytest.mark.parametrize("route", ["/orders/{pk}", "/orders/<pk>", r"/orders/(?P<pk>\w+)"])
def test_a_parameter_without_a_named_type_has_the_type_of_all_values(route, values, kind):
    assert report_types(route, *((f"/orders/{value}", 200) for value in values)) == {200: {"pk": kind}}


@pytest.mark.parametrize("route", ["/orders/<string:pk>", "/orders/<slug:pk>", "/orders/{pk:str}", "/orders/<uuid:pk>"])
def test_a_type_that_the_router_names_wins_over_the_values(route):
    assert report_types(route, ("/orders/17", 200)) == {200: {"pk": "string"}}


def test_values_of_refused_requests_change_no_type():
    requests = [("/orders/17", 200), ("/orders/jane", 404), ("/orders/18", 403), ("/orders/wp-admin", 422)]
    assert report_types("/orders/{pk}", *requests) == {
        200: {"pk": "integer"}, 403: {"pk": "integer"}, 404: {"pk": "unknown"}, 422: {"pk": "unknown"},
    }  # fmt: skip


def test_a_path_that_does_not_fit_its_route_is_a_string():
    assert report_types("/files/{name}", ("/files/1/2", 200)) == {200: {"name": "string"}}


def test_several_parameters_of_one_segment_have_their_own_types():
    types = report_types("/{year}-{name}/days/{day}.json", ("/2026-may/days/3.json", 200))
    assert types == {200: {"year": "integer", "name": "string", "day": "integer"}}


def test_a_type_is_kept_between_reports_and_only_widens():
    witness = make_witness(hub := Hub())
    for value in ("17", "jane", "18"):
        observe_get(witness, f"/orders/{value}", {"id": 1}, route="/orders/{pk}")
        assert witness.flush()
    assert [entry["parameters"]["pk"]["type"] for entry in hub.entries] == ["integer", "string", "string"]
    assert b"jane" not in b"".join(hub.bodies)
