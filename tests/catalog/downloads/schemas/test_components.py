"""Each distinct object schema is in the OpenAPI download once, under a readable name, and no schema loses anything."""

from __future__ import annotations

import cProfile
import json
import pstats
import re
from collections.abc import Sequence
from itertools import islice, product
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import Evidence, describe, infer
from bench._support.exported_schemas import resolve_references
from catalog.downloads import openapi
from catalog.downloads.schemas.names import MAX_SCHEMA_NAME_LENGTH, MIN_DIGEST_LENGTH
from catalog.evidence.outlines import NO_BODY
from tests.catalog.json_values import VALUES

PREFIX = "#/components/schemas/"
OPERATIONS = [
    ("GET", "/orders"), ("POST", "/orders"), ("GET", "/orders/{}"), ("PATCH", "/orders/{}"), ("GET", "/orders/{}/a"),
    ("GET", "/api/v2/orders"), ("POST", "/orders/search"), ("GET", "/carts/{}"), ("PUT", "/carts/{}"), ("GET", "/"),
    ("GET", "/a-b"), ("GET", "/a_b"), ("GET", "/2fa"), ("GET", "/日本"), ("M-SEARCH", "/日本"), ("GET", "/{}/{}"),
]  # fmt: skip
READS = [(method, path) for method, path in OPERATIONS if method == "GET" and path.startswith(("/orders", "/carts"))]
SPECIAL_NAMES = st.sampled_from(
    ["orders", "order", "data", "Data", "items", "größe", "日本", "2fa", "", "$ref", "properties"]
)
OBJECTS = st.dictionaries(SPECIAL_NAMES, VALUES | st.dictionaries(SPECIAL_NAMES, VALUES, max_size=2), max_size=4)
BODIES = VALUES | OBJECTS | st.lists(OBJECTS, max_size=3)


def shape(*values: Any) -> dict[str, Any]:
    evidence = Evidence()
    for value in values:
        evidence.add(infer(value))
    return describe(evidence, counts=False)


def outline(method: str, template: str, request: Any = None, **responses: Any) -> dict[str, Any]:
    """Return an outline. `request` and each response (such as `status_200`) are lists of observed bodies."""
    names = iter("abcdef")
    path = re.sub(r"\{}", lambda _: f"{{{next(names)}}}", template)
    parameters = {name: {"type": "string"} for name in re.findall(r"\{(.)}", path)}
    shapes = {status.removeprefix("status_"): shape(*bodies) for status, bodies in responses.items()}
    return {
        "method": method, "path": path, "parameters": parameters, "query": None,
        "request": shape(*request) if request else None, "responses": shapes or {"204": NO_BODY},
    }  # fmt: skip


@st.composite
def catalogs(draw: st.DrawFn, operations: Sequence[tuple[str, str]] = OPERATIONS) -> list[dict[str, Any]]:
    """Draw operations in catalog order; some have equal bodies."""
    pool = draw(st.lists(st.lists(BODIES, min_size=1, max_size=2), min_size=1, max_size=5))
    bodies = st.sampled_from(pool)
    chosen = draw(st.lists(st.sampled_from(operations), unique=True, max_size=8))
    outlines = [
        outline(method, template, draw(st.none() | bodies), status_200=draw(bodies), status_404=draw(bodies))
        for method, template in chosen
    ]
    return sorted(outlines, key=lambda outline: (outline["path"], outline["method"]))


def build(outlines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return json.loads(json.dumps(openapi.build_openapi_document("Lumen Books", "5b1f", outlines)))


class InlineSchemas:
    """A replacement of ComponentSchemas that leaves every schema inline."""

    def add(self, schema: Any, body: Any) -> Any:
        return part_null(schema)

    def build(self) -> dict[str, Any]:
        return {}


def part_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return an equivalent schema in which a nullable object with properties is an `anyOf` of object and null."""
    inner = dict(schema)
    for name in inner.keys() & {"items", "additionalProperties"}:
        inner[name] = part_null(inner[name])
    if "properties" not in schema:
        return inner
    inner["properties"] = {name: part_null(value) for name, value in schema["properties"].items()}
    if schema["type"] == "object":
        return inner
    return {"anyOf": [{**inner, "type": "object"}, {"type": "null"}]}


def build_without_components(outlines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    with mock.patch.object(openapi, "ComponentSchemas", InlineSchemas):
        return build(outlines)


def find_uses(value: Any) -> list[str]:
    """Return the name in every reference."""
    return re.findall(f'"{PREFIX}([^"]+)"', json.dumps(value))


@given(catalogs())
def test_resolving_all_references_gives_the_inline_document(outlines):
    document = build(outlines)
    plain = build_without_components(outlines)
    components = document["components"]["schemas"]
    assert {**document, "components": None, "paths": resolve_references(document["paths"], components)} == {
        **plain, "components": None,
    }  # fmt: skip


@given(catalogs())
def test_every_object_with_properties_is_one_component(outlines):
    document = build(outlines)
    components = document["components"]["schemas"]
    assert set(find_uses(document)) == components.keys()
    assert '"properties"' not in json.dumps(document["paths"])
    assert all(schema["type"] == "object" and schema["properties"] for schema in components.values())
    texts = [json.dumps(resolve_references(schema, components)) for schema in components.values()]
    assert len(set(texts)) == len(texts)


@given(catalogs())
def test_names_are_unique_words_that_every_generator_accepts(outlines):
    names = list(build(outlines)["components"]["schemas"])
    assert len({name.lower() for name in names}) == len(names)
    assert names == sorted(names)
    for name in names:
        assert re.fullmatch("[A-Z][A-Za-z0-9]*", name)
        assert len(name) <= MAX_SCHEMA_NAME_LENGTH + MIN_DIGEST_LENGTH


@given(catalogs(), st.randoms(use_true_random=False))
def test_the_order_of_operations_changes_nothing(outlines, random: Random):
    shuffled = random.sample(outlines, len(outlines))
    assert build(shuffled) == build(outlines)


@given(catalogs(READS), st.sets(st.integers(0, 7)))
def test_adding_operations_never_gives_an_existing_name_to_another_schema(outlines, kept):
    before, after = build([outline for n, outline in enumerate(outlines) if n in kept]), build(outlines)
    names = [set(find_uses([get_read_schemas(document)])) - {"Error"} for document in (before, after)]
    for name in names[0] & names[1]:
        schemas = [document["components"]["schemas"] for document in (before, after)]
        assert resolve_references(schemas[0][name], schemas[0]) == resolve_references(schemas[1][name], schemas[1])


def get_read_schemas(document: dict[str, Any]) -> list[Any]:
    return [item["get"]["responses"]["200"] for item in document["paths"].values()]


@given(catalogs())
def test_components_make_a_document_larger_only_by_the_references(outlines):
    document, plain = build(outlines), build_without_components(outlines)
    name_length = MAX_SCHEMA_NAME_LENGTH + MIN_DIGEST_LENGTH
    a_reference = 2 * name_length + len(PREFIX) + 20  # the length of the reference and of its name in `components`
    assert len(json.dumps(document)) <= len(json.dumps(plain)) + a_reference * len(find_uses(document))


def test_time_grows_linearly_with_the_catalog():
    def count_calls(operations: int) -> int:
        words = ("".join(letters) for letters in product("abcdefghij", repeat=3))
        bodies = {word: {"id": 1, word: {"lines": [{"sku": "x", word: 1}]}} for word in islice(words, operations)}
        outlines = [outline("GET", f"/{word}/{{}}", status_200=[body]) for word, body in bodies.items()]
        profile = cProfile.Profile()
        profile.runcall(openapi.build_openapi_document, "x", "1", outlines)
        return pstats.Stats(profile).total_calls

    small, large = count_calls(200), count_calls(800)
    assert large < 4.2 * small


MONEY = {"amount": 1.5, "currency": "EUR"}
LINE = {"sku": "x", "price": MONEY}
ORDER = {"id": 1, "lines": [LINE], "total": MONEY, "customer": {"name": "x"}, "byDay": {"2026-01-02": {"n": 1}}}
NOT_FOUND = {"error": "x"}


def name_all(*outlines: dict[str, Any]) -> list[str]:
    return list(build(outlines)["components"]["schemas"])


def test_names_are_readable():
    assert name_all(
        outline("GET", "/orders", status_200=[{"orders": [{"id": 1}], "next": None}]),
        outline("POST", "/orders", [{"lines": [{"sku": "x"}]}], status_201=[ORDER], status_404=[NOT_FOUND]),
        outline("GET", "/orders/{}", status_200=[ORDER], status_404=[NOT_FOUND]),
        outline("PATCH", "/orders/{}", [{"note": "x"}], status_200=[{"changed": True}], status_409=[{"by": "x"}]),
        outline("POST", "/orders/{}/cancel", [{"reason": "x"}], status_200=[{"cancelled": True}]),
    ) == [
        "ConflictError", "Error", "Order", "OrderByDayValue", "OrderCancelRequest", "OrderCancelResponse",
        "OrderCustomer", "OrderLine", "OrderPatchRequest", "OrderPatchResponse", "OrderRequest", "OrderRequestLine",
        "OrderTotal", "OrdersItem", "OrdersPage",
    ]  # fmt: skip


def test_a_list_of_a_resource_refers_to_its_schema():
    document = build(
        [outline("GET", "/orders", status_200=[[ORDER]]), outline("GET", "/orders/{}", status_200=[ORDER])]
    )
    (listing, order) = get_read_schemas(document)
    assert listing["content"]["application/json"]["schema"] == {"type": "array", "items": {"$ref": f"{PREFIX}Order"}}
    assert order["content"]["application/json"]["schema"] == {"$ref": f"{PREFIX}Order"}


def test_a_nullable_reference_is_an_any_of_with_null():
    document = build([outline("GET", "/orders/{}", status_200=[{"refund": None}, {"refund": MONEY}])])
    assert document["components"]["schemas"]["Order"]["properties"]["refund"] == {
        "anyOf": [{"$ref": f"{PREFIX}OrderRefund"}, {"type": "null"}]
    }


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["/v1/orders/{}", "/v2/orders/{}"], ["GetV1OrdersByAOk", "GetV2OrdersByAOk"]),
        (["/2fa", "/"], ["Root", "Schema2Fa"]),
    ],
)
def test_if_two_schemas_would_have_the_same_name_both_get_longer_names(paths, names):
    assert name_all(*(outline("GET", path, status_200=[{path: 1}]) for path in paths)) == names


def test_names_that_differ_only_in_punctuation_end_with_a_digest():
    names = name_all(outline("GET", "/orders/{}", status_200=[{"ship_to": {"a": 1}, "shipTo": {"b": 1}}]))
    assert names[0] == "Order"
    assert all(re.fullmatch(f"OrderShipToObject[0-9a-f]{{{MIN_DIGEST_LENGTH}}}", name) for name in names[1:])
    assert len(names) == 3


def test_long_names_lose_words_in_the_middle():
    value: Any = {"leaf": 1}
    for _ in range(20):
        value = {"configuration": value}
    names = name_all(outline("GET", "/orders/{}", status_200=[value]))
    assert len(names) == 21
    assert max(map(len, names)) <= MAX_SCHEMA_NAME_LENGTH + MIN_DIGEST_LENGTH
