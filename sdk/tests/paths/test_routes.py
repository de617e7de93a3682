"""A framework's route becomes the template in the catalog: exact, with the types that the route names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit._paths.routes import build_route_template, parse_route_path
from affidavit._paths.template_limits import MAX_BYTES, MAX_SEGMENTS


@pytest.mark.parametrize(("rule", "path", "types"), [
    ("/orders/<int:pk>/", "/orders/{pk}/", {"pk": "integer"}),
    ("/prices/<float:least>/<uuid:id>", "/prices/{least}/{id}", {"least": "number", "id": "string"}),
    ("/orders/{pk:int}", "/orders/{pk}", {"pk": "integer"}),
    ("/files/{name:path}", "/files/{name}", {"name": "string"}),
    (r"/shop/^orders/(?P<pk>[0-9]+)/$", "/shop/orders/{pk}/", {"pk": "integer"}),
    (r"/(?P<year>\d{4})/(?P<name>\w+)", "/{year}/{name}", {"year": "integer", "name": "unknown"}),
    ("/orders/<int(min=1):pk>", "/orders/{pk}", {"pk": "integer"}),
    ("/<any(a,b):x>/<path:y>/<slug:z>", "/{x}/{y}/{z}", {"x": "string", "y": "string", "z": "string"}),
    ("/<yyyy:year>", "/{year}", {"year": "unknown"}),
    ("/über uns/<x>", "/%C3%BCber%20uns/{x}", {"x": "unknown"}),
    ("/plain", "/plain", {}),
])  # fmt: skip
def test_a_route_becomes_a_template_with_types(rule, path, types):
    template = build_route_template(rule)
    assert (template.path, dict(template.parameters)) == (path, types)


@pytest.mark.parametrize(
    "rule",
    ["orders", "/a/(b|c)", "/word" * (MAX_BYTES // 5 + 1), "/<%s>" % ("n" * 101), "/a" * (MAX_SEGMENTS + 1)],
    ids=len,
)
def test_a_route_that_the_hub_would_refuse_has_no_template(rule):
    assert build_route_template(rule) is None


@pytest.mark.parametrize(("rule", "path"), [
    ("/orders/<int:pk>", "/orders/{pk}"), ("orders/<pk>/", "orders/{pk}/"), ("/orders/{pk:int}", "/orders/{pk}"),
    ("/files/{name:path}", "/files/{name}"), ("/<any(a,b):kind>", "/{kind}"), ("/plain.json", "/plain.json"),
    (r"^old/(?P<pk>[0-9]+)/$", "old/{pk}/"), ("/a/<b", None), (r"^a/([0-9]+)$", None), (r"^a|b$", None),
    (r"api/^b/(?P<x>[^/.]+)/c/(?P<y>(?:\(|[)(]|\d){2})\.json/?$", "api/b/{x}/c/{y}.json"), (r"^(?P<a>x)?$", None),
    (r"^(?P<slug>[-\w]+)\.(?P<format>[a-z0-9]+)\Z", "{slug}.{format}"),
])  # fmt: skip
def test_a_framework_s_route_becomes_a_template_or_nothing(rule, path):
    assert parse_route_path(rule) == path


def test_data_inside_a_route_becomes_a_parameter():
    assert build_route_template("/tenants/7f3a9c1e5b2d/<int:pk>").path == "/tenants/{tenantId}/{pk}"


@given(st.text(max_size=30))
def test_any_text_is_read_without_an_exception(rule):
    template = build_route_template(f"/{rule}")
    assert template is None or (template.path.startswith("/") and not any(map(str.isspace, template.path)))
