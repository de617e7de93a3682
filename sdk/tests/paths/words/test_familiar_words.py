"""A word that any API knows is not withheld, and a code that nobody can read is data."""

import pytest
from support.lessons import learn

from affidavit._json import ABSENT
from affidavit._paths.words.words_of_other_apis import FEW_APIS, UNKNOWN_ORIGINS, WORD_ORIGINS, find_origin


def learn_files(*words):
    """Return a learner of an API with few exchanges, in which each word ends paths behind `files`."""
    return learn(
        *((f"GET /v1/acme/employees/{number}/files/{word}", {"files": []}) for word in words for number in (17, 18)),
        *((f"GET /v1/acme/files/{word}", {"files": []}) for word in words),
    )


@pytest.mark.parametrize("verb", ["view", "parse", "compare"])
def test_a_verb_is_a_word_of_the_api(verb):
    path = f"/v1/acme/employees/17/files/{verb}"
    result = learn_files(verb).template(path)
    assert result.path.endswith(f"/files/{verb}")
    assert path.count("/") - 1 not in result.undecided


@pytest.mark.parametrize("word", ["usergroups", "userid", "subnet", "launch"])
def test_words_of_few_apis_and_common_words_without_a_joint_are_not_unknown(word):
    assert find_origin(word) == FEW_APIS


@pytest.mark.parametrize("name", ["acme", "jane", "globex", "readme", "initech", "amber-otter"])
def test_names_are_no_words_of_few_apis(name):
    assert find_origin(name) != FEW_APIS


@pytest.mark.parametrize("word", ["named", "archived", "merged", "tagged", "modified", "starred"])
def test_the_participle_of_a_familiar_verb_is_familiar(word):
    assert find_origin(word) == WORD_ORIGINS[1]


@pytest.mark.parametrize("name", ["alfred", "jared", "mohammed", "ahmed", "kindred", "zed", "globexed"])
def test_a_name_that_ends_like_a_participle_is_not_familiar(name):
    assert find_origin(name) == WORD_ORIGINS[-1]


@pytest.mark.parametrize("name", ["tag_renamed", "team-merged", "archived_room"])
def test_a_participle_beside_other_words_is_not_familiar(name):
    """Users name things so: `policy_renamed`."""
    assert find_origin(name) in UNKNOWN_ORIGINS


@pytest.mark.parametrize("word", ["named", "modified"])
def test_a_participle_before_the_name_of_a_thing_is_a_word(word):
    names = ("shoe_size", "my_favorite_color")
    learner = learn(
        ("GET /deals/v1/properties", [{"name": name, "label": "x"} for name in names]),
        ("POST /deals/v1/properties", {"name": names[0], "label": "x"}),
        *((f"GET /deals/v1/properties/{word}/{name}", {"name": name, "label": "x"}) for name in names),
    )
    for name in names:
        result = learner.template(f"/deals/v1/properties/{word}/{name}")
        assert (result.path.rpartition("/")[0], result.undecided) == (f"/deals/v1/properties/{word}", ())


def test_a_code_among_values_is_a_parameter():
    codes = ("09858t43", "cxfs6r3b", "f8b00cv7", "grms7qa0", "kpjzcm8t", "pa58afh7", "peve3se6", "pw4w2sps")
    learner = learn(
        ("POST /shop/transactions/advanced_search_ids", ABSENT),
        *((f"POST /shop/{noun}", ABSENT) for noun in ("transactions", "customers", "subscriptions")),
        *((f"GET /shop/transactions/{code}", ABSENT) for code in codes),
    )
    for code in codes:
        result = learner.template(f"/shop/transactions/{code}")
        assert (result.path, result.undecided) == ("/shop/transactions/{transactionId}", ())


def test_the_name_of_a_link_is_no_value():
    """Hypermedia names the search among its links, and its answer has the form of an item."""
    links = {"collection": {"links": [{"rel": "search", "href": "x"}, {"rel": "self", "href": "x"}], "items": []}}
    learner = learn(
        *((f"GET /{noun}/{number}", links) for noun in ("teams", "events") for number in (17, 18, 19)),
        *((f"GET /{noun}/search", links) for noun in ("teams", "events", "members")),
    )
    for noun in ("teams", "events"):
        result = learner.template(f"/{noun}/search")
        assert (result.path, result.undecided) == (f"/{noun}/search", ())


def test_oauth2_is_a_word():
    learner = learn(
        ("POST /auth/oauth2/v2/token", {"access_token": ""}),
        *((f"GET /api/users/{number}/apps", [{"id": 1}]) for number in (17, 18, 19)),
    )
    result = learner.template("/auth/oauth2/v2/token")
    assert (result.path, result.undecided) == ("/auth/oauth2/v2/token", ())


def test_an_api_that_describes_itself_under_options_names_no_values():
    areas = ("build", "core", "git", "wit")
    described = [{"name": area, "path": f"_apis/{area}"} for area in areas]
    learner = learn(
        *((f"OPTIONS /_apis/{area}", described) for area in areas),
        *((f"GET /_apis/{area}/{number}", {"id": number}) for area in areas for number in (17, 18)),
    )
    for area in areas:
        assert "{" not in learner.template(f"/_apis/{area}").path
