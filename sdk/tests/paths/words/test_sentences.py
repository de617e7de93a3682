"""A segment of many words is a text that somebody wrote, such as a title, and never a word of the API."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn, template

from affidavit._paths.words.sentences import LEAST_IN_SENTENCE, is_sentence

TITLE = "just_a_normal_girl_going_for_her_10th_class_exam"
WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=7)


def learn_comments():
    """Return a learner of an API in which one title stands beside words."""
    return learn(
        *((f"GET /comments/17/{word}", [{"id": 17}]) for word in ("replies", "reports", "votes")),
        (f"GET /comments/17/{TITLE}/4711", {"id": 4711}),
    )


def test_a_title_beside_words_is_a_parameter():
    result = learn_comments().template(f"/comments/17/{TITLE}/4711")
    assert (result.path, result.undecided) == ("/comments/{commentId}/{commentId2}/{commentId3}", ())


def test_a_title_that_was_never_seen_is_a_parameter_at_once():
    learner = learn(("GET /posts", [{"id": 17}]), ("GET /posts/17", {"id": 17}))
    assert template(learner, "/notes/how-to-build-a-house-in-three-days") == "/notes/{noteId}"


@given(st.lists(WORD, min_size=LEAST_IN_SENTENCE, max_size=20), st.sampled_from("-_ +"))
def test_no_text_of_many_words_leaves(words, sign):
    title = sign.join(words)
    path = f"/comments/17/{title.replace(' ', '%20')}"
    learner = learn(("GET /comments/17/votes", {"id": 17}), (f"GET {path}", {"id": 17}))
    result = learner.template(path)
    assert (result.path, result.undecided) == ("/comments/{commentId}/{commentId2}", ())


@pytest.mark.parametrize(
    "name",
    [
        "batch-associate-resources-to-custom-line-item",
        "bulk_update_ads_bid_by_inventory_reference",
        "listKeysAndConnectionStringsOfTheServiceInThisRegion",
        "2024-01-02-03-04-05-06-07-08",
    ],
)
def test_the_longest_names_of_apis_are_no_sentences(name):
    assert not is_sentence(name)


@pytest.mark.parametrize("text", ["<merchant>", "My%20report", "%22open%22", "%3Cacme%3E", "a%7Cb"])
def test_a_text_with_a_sign_that_no_path_may_hold_is_a_parameter(text):
    parts = ("customers", "refunds", "transactions")
    learner = learn(*((f"POST /merchants/{text}/{part}", {"id": "made", "state": "open"}) for part in parts))
    result = learner.template(f"/merchants/{text}/customers")
    assert (result.path, result.undecided) == ("/merchants/{merchantId}/customers", ())


@given(WORD, st.sampled_from("!&'*,"), WORD)
def test_a_text_with_a_sign_that_no_name_in_a_path_has_is_a_parameter(before, sign, after):
    text = f"{before}{sign}{after}"
    parts = ("customers", "refunds", "transactions")
    learner = learn(*((f"POST /merchants/{text}/{part}", {"id": "made", "state": "open"}) for part in parts))
    result = learner.template(f"/merchants/{text}/customers")
    assert (result.path, result.undecided) == ("/merchants/{merchantId}/customers", ())


@pytest.mark.parametrize("cells", ["%27Sheet1%27:clear", "%27Sheet1%27:append", "%27Sheet1%27"])
def test_a_range_of_a_sheet_is_a_parameter_from_the_first_one_on(cells):
    learner = learn(
        ("GET /v4/spreadsheets/17", {"sheets": [{"title": "Sheet1"}]}),
        (f"POST /v4/spreadsheets/17/values/{cells}", {"clearedRange": "Sheet1!A1:Z1000"}),
    )
    result = learner.template(f"/v4/spreadsheets/17/values/{cells}")
    assert (result.path, result.undecided) == ("/v4/spreadsheets/{spreadsheetId}/values/{valueId}", ())


@pytest.mark.parametrize("name", ["Customers('anna')", "FindNearest(latitude=1,longitude='x')", "parcels;owner=o'neil"])
def test_a_sign_in_a_value_inside_a_segment_says_nothing_about_its_name(name):
    head = name.partition("(")[0].partition(";")[0]
    learner = learn((f"GET /odata/{name}", {"id": 17}), ("GET /odata/orders", [{"id": 17}]))
    assert learner.template(f"/odata/{name}").path.startswith(f"/odata/{head}")
