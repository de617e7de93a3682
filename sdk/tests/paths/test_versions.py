"""The version of an API that is not at the beginning of its paths is a literal; other numbers are parameters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn, template

from affidavit._paths.classify import FIXED
from affidavit._paths.versions import MAX_VERSIONS

WORDS = ("boards", "cards", "lists", "members")


def learn_behind(root, words=WORDS):
    """Return a learner that has seen lists and items of all words behind a root."""
    return learn(
        *((f"GET {root}/{word}", [{"id": 17, "made": ""}]) for word in words),
        *((f"GET {root}/{word}/{number}", {"id": number, "made": ""}) for word in words for number in (17, 4711)),
    )


@pytest.mark.parametrize(
    "root",
    [
        "/rest/api/2",
        "/api/0",
        "/admin/api/2024-01",
        "/rest/agile/1.0",
        "/ws/2",
        "/api/v5_0",
        "/acme/api/v5_0",
        "/geo/1.0",
    ],
)
def test_the_only_version_behind_words_is_a_literal(root):
    result = learn_behind(root).template(f"{root}/boards/17")
    assert (result.path, result.undecided) == (f"{root}/boards/{{boardId}}", ())


@pytest.mark.parametrize("roots", [("/rest/api/2", "/rest/api/3"), ("/geo/1.0", "/geo/1.1"), ("/api/3", "/api/17")])
def test_several_numbers_at_the_place_of_a_version_are_parameters(roots):
    learner = learn(*((f"GET {root}/{word}", [{"id": 17}]) for root in roots for word in WORDS))
    assert template(learner, f"{roots[0]}/boards") == template(learner, f"{roots[1]}/boards")
    assert "{" in template(learner, f"{roots[0]}/boards")


def test_a_lone_number_that_not_most_paths_go_through_is_a_parameter():
    """Only four of the ten paths go through `1.0`."""
    learner = learn(
        *((f"GET /{word}", [{"id": 17}]) for word in (*WORDS, "labels", "notes")),
        *((f"GET /packages/1.0/{word}", [{"id": 17}]) for word in WORDS),
    )
    assert template(learner, "/packages/1.0/boards") == "/packages/{packageId}/boards"


def test_a_lone_number_that_few_words_follow_is_a_parameter():
    learner = learn(*((f"GET /packages/1.0/files/f-{letter}", {"size": 3}) for letter in "abcdefghi"))
    assert template(learner, "/packages/1.0/files/f-a").startswith("/packages/{packageId}/files")


@pytest.mark.parametrize("root", ["/services/data/v62.0", "/text/analytics/v3.1", "/open-banking/v2.2"])
def test_a_version_with_a_dot_behind_words_is_a_literal(root):
    result = learn_behind(root).template(f"{root}/boards/17")
    assert (result.path, result.undecided) == (f"{root}/boards/{{boardId}}", ())


def test_an_api_may_answer_two_marked_versions_side_by_side():
    learner = learn(*((f"GET /services/data/{v}/{word}", [{"id": 17}]) for v in ("v49.0", "v62.0") for word in WORDS))
    for version in ("v49.0", "v62.0"):
        result = learner.template(f"/services/data/{version}/boards")
        assert (result.path, result.undecided) == (f"/services/data/{version}/boards", ())


def test_two_words_suffice_behind_a_version_that_most_paths_go_through():
    learner = learn(
        ("GET /services/data/v62.0/query", {"records": []}),
        *((f"GET /services/data/v62.0/sobjects/Account/001xx000003DGb{end}", {"Id": ""}) for end in range(10, 20)),
    )
    result = learner.template("/services/data/v62.0/query")
    assert (result.path, result.undecided) == ("/services/data/v62.0/query", ())


@pytest.mark.parametrize("files", [("manifest",), ("manifest", "publish")])
@pytest.mark.parametrize("number", [1, 2, 12])
def test_releases_that_few_words_follow_do_not_leave_as_versions_of_the_api(number, files):
    """Most paths of this API go elsewhere."""
    learner = learn(
        *((f"GET /{word}", [{"id": 17}]) for word in ("labels", "notes", *WORDS)),
        *((f"GET /{word}/{item}", {"id": item}) for word in WORDS for item in (17, 4711)),
        *((f"GET /releases/v1.{minor}/{file}", {"size": 3}) for minor in range(number) for file in files),
    )
    result = learner.template("/releases/v1.0/manifest")
    assert "v1.0" not in result.path or 1 in result.undecided


def test_many_marked_versions_are_no_versions_of_the_api():
    learner = learn(*((f"GET /releases/v1.{minor}/{word}", [{"id": 17}]) for minor in range(9) for word in WORDS))
    result = learner.template("/releases/v1.0/boards")
    assert "v1.0" not in result.path or 1 in result.undecided


@given(
    st.sets(st.integers(0, 99), min_size=1, max_size=8),
    st.lists(st.sampled_from(["notes", "labels", "search", "archive", "17"]), min_size=1, unique=True),
    st.sampled_from(["/releases", "/services/data", "/customers/anna@example.com/data"]),
)
def test_marked_versions_are_fixed_only_if_they_are_few_and_several_words_follow(minors, following, root):
    learner = learn(*((f"GET {root}/v1.{minor}/{word}", {"id": 17}) for minor in minors for word in following))
    may_be_fixed = len(minors) <= MAX_VERSIONS and len(following) >= 2 and "@" not in root
    for minor in minors:
        judgement = learner.judge(f"{root}/v1.{minor}/{following[0]}")[root.count("/")]
        assert judgement is not FIXED or may_be_fixed


@pytest.mark.parametrize("root", ["/remote.php", "/index.php/shop", "/service.asmx", "/run.fcgi"])
def test_the_name_of_a_script_at_the_beginning_is_a_literal(root):
    result = learn_behind(root).template(f"{root}/boards/17")
    assert (result.path, result.undecided) == (f"{root}/boards/{{boardId}}", ())
