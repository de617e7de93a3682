"""The version of an API that is not at the beginning of its paths is a literal; other numbers are parameters."""

import pytest
from support.lessons import learn, template

WORDS = ("boards", "cards", "lists", "members")


def learn_behind(root, words=WORDS):
    """Return a learner that has seen lists and items of all words behind a root."""
    return learn(
        *((f"GET {root}/{word}", [{"id": 17, "made": ""}]) for word in words),
        *((f"GET {root}/{word}/{number}", {"id": number, "made": ""}) for word in words for number in (17, 4711)),
    )


@pytest.mark.parametrize(
    "root", ["/rest/api/2", "/admin/api/2024-01", "/rest/agile/1.0", "/ws/2", "/api/v5_0", "/acme/api/v5_0", "/geo/1.0"]
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


@pytest.mark.parametrize("root", ["/remote.php", "/index.php/shop", "/service.asmx", "/run.fcgi"])
def test_the_name_of_a_script_at_the_beginning_is_a_literal(root):
    result = learn_behind(root).template(f"{root}/boards/17")
    assert (result.path, result.undecided) == (f"{root}/boards/{{boardId}}", ())
