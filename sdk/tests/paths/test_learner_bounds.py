"""Whatever the traffic is, a learner of path templates is bounded, ignores the order of requests and keeps no value."""

import random
import re
import string
import sys
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.lessons import learn, template

import affidavit._paths.learner as path_learner
import affidavit._paths.tree as path_tree
from affidavit._paths.exchange_facts import KeyedHash
from affidavit._paths.learner import Learner

KEY = KeyedHash(b"k")


WORDS = st.sampled_from(["teams", "storm", "reef", "17", "2", "search", "v1", "members", "a-b", "x%2Fy", ""])
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 20) | st.sampled_from(["storm", "reef", "teams", "x/y", "17"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "status", "members", "teams", "17", "data"]), inner, max_size=3)
    ),
    max_leaves=5,
)
EXCHANGES = st.lists(
    st.tuples(
        st.sampled_from(["GET", "POST"]),
        st.lists(WORDS, min_size=1, max_size=4).map(lambda words: "/" + "/".join(words)),
        st.sampled_from([200, 201, 302, 400, 404]),
        BODIES,
        BODIES,
    ),
    max_size=12,
)


def all_templates(exchanges, paths, hashes=KEY):
    learner = Learner(hashes)
    for method, path, status, request, response in exchanges:
        learner.learn(method, path, status, request=request, response=response)
    return [learner.template(path) for path in paths]


@given(EXCHANGES, st.randoms(use_true_random=False))
def test_order_and_repetition_of_exchanges_make_no_difference(exchanges, rng):
    paths = sorted({path for _, path, *_ in exchanges})
    again = exchanges + exchanges[:3]
    rng.shuffle(again)
    assert all_templates(again, paths, KeyedHash()) == all_templates(exchanges, paths)


@settings(max_examples=30)
@given(EXCHANGES, st.randoms(use_true_random=False))
def test_beyond_the_limits_too_the_order_makes_no_difference(exchanges, rng):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(path_tree, "MAX_WORDS", 2)
        patch.setattr(path_learner, "MAX_HASHES", 2)
        paths = sorted({path for _, path, *_ in exchanges})
        shuffled = list(exchanges)
        rng.shuffle(shuffled)
        assert all_templates(shuffled, paths) == all_templates(exchanges, paths)


@given(EXCHANGES)
def test_a_template_has_as_many_segments_as_its_path_and_undecided_segments_are_literal(exchanges):
    paths = [path for _, path, *_ in exchanges]
    for path, result in zip(paths, all_templates(exchanges, paths), strict=True):
        segments = result.path.split("/")[1:]
        assert len(segments) == len(path.split("/")) - 1
        assert re.findall(r"\{([^{}]*)\}", result.path) == list(result.parameters)
        assert all(not segments[index].startswith("{") for index in result.undecided)


def test_memory_is_bounded_whatever_arrives(monkeypatch):
    monkeypatch.setattr(path_tree, "MAX_WORDS", 50)
    monkeypatch.setattr(path_learner, "MAX_HASHES", 100)
    rng, learner = random.Random(1), Learner()
    for _ in range(2000):
        name, value = ("".join(rng.choices(string.ascii_lowercase, k=9)) for _ in range(2))
        learner.learn("GET", f"/{name}/{value}", 200, response={"name": value, "other": name})
    nodes = list(learner._root.walk())
    assert len(nodes) < 200
    assert sum(len(node.value_readings) for node in nodes) <= 100


def test_more_versions_than_the_word_limit_are_still_versions(monkeypatch):
    monkeypatch.setattr(path_tree, "MAX_WORDS", 3)
    learner = learn(*((f"GET /v{number}/teams", {}) for number in range(9)))
    assert template(learner, "/v7/teams") == "/v7/teams"


def test_a_full_tree_learns_no_more_but_keeps_what_it_knew(monkeypatch):
    monkeypatch.setattr(path_learner, "MAX_TREE_NODES", 40)
    learner = learn(("GET /teams/storm", {"name": "storm"}))
    for number in range(200):
        letters = "".join(chr(97 + int(digit)) for digit in str(number))
        learner.learn("GET", f"/{letters}x/{letters}y", 200, response={"name": f"{letters}y"})
    assert sum(1 for _ in learner._root.walk()) <= 41  # 40 nodes and the root
    assert template(learner, "/teams/storm") == "/teams/{teamId}"


def test_a_path_of_a_thousand_segments_is_kept():
    learner = learn(("GET " + "/a" * 1000, {}), ("GET " + "/b" * 31, {"name": "b"}))
    assert learner.template("/a" * 1000).path == "/a" * 1000


def test_a_learner_keeps_no_value_of_any_body():
    secrets = ["hunter2", "ann-marie", "correct-horse", "tr0ub4dor"]
    body = {"password": secrets[0], "list": [secrets[1]], "map": {"ann@example.com": {"deep": secrets[2]}}}
    learner = learn(("POST /logins", {"echo": secrets[3]}, body), ("GET /logins/17", body))
    learner.template("/logins/17")
    held_text = " ".join(texts_in(learner))
    assert "logins" in held_text
    assert "password" in held_text
    assert [secret for secret in [*secrets, "ann@example.com", "17"] if secret in held_text] == []


def texts_in(thing, seen=None):
    """Yield every text that can be reached from an object."""
    seen = set() if seen is None else seen
    if isinstance(thing, str):
        yield thing
    if id(thing) in seen or isinstance(thing, (str, bytes, int, float)):
        return
    seen.add(id(thing))
    slots = [getattr(thing, name, None) for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    inner = [*getattr(thing, "__dict__", {}).values(), *slots]
    if isinstance(thing, dict):
        inner += [*thing, *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        inner += thing
    for part in inner:
        yield from texts_in(part, seen)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_any_text_can_be_a_segment(text):
    path = f"/files/{quote(text, safe='')}"
    result = learn((f"GET {path}", {"name": text})).template(path)
    assert len(result.path.split("/")) == 3


def draw_name(rng, number):
    return "".join(rng.choices(string.ascii_lowercase, k=9))


def write_version(rng, number):
    return f"v{number // 50}.{number % 50}"


@pytest.mark.parametrize("make_word", [draw_name, write_version])
def test_the_work_of_a_decision_grows_with_the_number_of_words_and_not_with_its_square(make_word):
    few, many = (count_calls_of_a_decision(number, make_word) for number in (100, 400))
    assert many < 6 * few


def count_calls_of_a_decision(words, make_word):
    """Return how many functions of Python a decision calls that has so many words in one position."""
    rng, learner, calls = random.Random(words), Learner(KEY), [0]
    for number in range(words):
        name = make_word(rng, number)
        learner.learn("GET", f"/users/{name}", 200, response={"username": name})

    def count(frame, event, argument):
        calls[0] += event == "call"

    sys.setprofile(count)
    try:
        learner.template("/users/anna")
    finally:
        sys.setprofile(None)
    return calls[0]
