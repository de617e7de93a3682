"""An answer that describes an API names its words. They are no values of the traffic."""

import pytest
from support.lessons import learn

from affidavit._json import ABSENT

PARTS = ("parcels", "claims", "lockers", "couriers", "routes", "depots")
WORDS = ("publish", "stocktake", "upload")
OPENAPI = {
    "openapi": "3.1.0",
    "paths": {f"/{part}/{{id}}": {"get": {"tags": [{"name": part}]}} for part in PARTS[:2]},
    "tags": [{"name": word} for word in (*PARTS, *WORDS)],
}
SWAGGER = {**{key: OPENAPI[key] for key in ("paths", "tags")}, "swagger": "2.0"}
APIPIE = {
    "docs": {
        "resources": [
            {"name": part, "methods": [{"name": word, "api_url": f"/api/{part}/:{part}_id/{word}"} for word in WORDS]}
            for part in PARTS
        ]
    }
}
HYPER_SCHEMA = {
    "links": [{"href": f"/{part}/{{(%2F{part}%2Fid)}}/{word}", "rel": word} for part in PARTS for word in WORDS],
    "definitions": [{"id": word} for word in WORDS],
}


@pytest.mark.parametrize("description", [OPENAPI, SWAGGER, APIPIE, HYPER_SCHEMA])
def test_the_words_of_a_description_are_not_held_back(description):
    learner = learn(
        ("GET /docs/api.json", description),
        *((f"GET /api/{part}/17", {"id": 17, "made": ""}) for part in PARTS),
        *((f"PUT /api/parcels/17/{word}", ABSENT) for word in WORDS),
    )
    for word in WORDS:
        path_template = learner.template(f"/api/parcels/17/{word}")
        assert (path_template.path, path_template.undecided) == (f"/api/parcels/{{parcelId}}/{word}", ())


def test_the_property_names_of_a_description_are_words():
    named = {**OPENAPI, "components": {"schemas": {"Parcel": {"properties": {"stampduty": {"type": "string"}}}}}}
    path = "/api/parcels/17/stampduty"
    without, with_names = (learn((f"GET {path}", ABSENT), ("GET /docs", body)) for body in (OPENAPI, named))
    assert with_names.judge(path)[-1].probability < without.judge(path)[-1].probability


@pytest.mark.parametrize(
    "link", ["/buckets/{}/objects/{{key}}", "/buckets/{}/{{key}}", "https://acme.example/{}/{{key}}"]
)
def test_links_to_fill_in_do_not_make_a_list_a_description(link):
    names = ("amber-otter", "lunar", "harbor", "vault", "jane", "dune")
    learner = learn(
        ("GET /buckets", [{"name": name, "objects_url": link.format(name)} for name in names]),
        *((f"GET /buckets/{name}", {"size": 1}) for name in names),
    )
    for name in names:
        assert learner.template(f"/buckets/{name}").path == "/buckets/{bucketId}"
