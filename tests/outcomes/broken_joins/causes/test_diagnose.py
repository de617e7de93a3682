import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcomes.broken_joins.causes.advice import ADVICE
from outcomes.broken_joins.causes.diagnose import (
    Diagnosis,
    KnownConversation,
    bare_form,
    bare_forms,
    diagnose,
    is_placeholder,
)

ids = st.text(min_size=1, max_size=255).filter(lambda text: not is_placeholder(text))


def verdict(reported: str, *known_ids: str) -> Diagnosis:
    candidates = [KnownConversation(id_, "production") for id_ in known_ids if bare_form(id_) in bare_forms(reported)]
    return diagnose(reported, siblings={}, candidates=candidates)


@pytest.mark.parametrize(
    "reported",
    [
        "undefined", "null", "[object Object]", "{{conversationId}}", "{{ conversation.id }}", "None",
        "${conversationId}",
        "NaN", '"undefined"', " null ", "{conversation_id}", "%conversationId%", "<conversation-id>", "<%= id %>",
        ":conversationId", "$CONVERSATION_ID", "[[id]]", " ", "''", "YOUR_CONVERSATION_ID", "#{id}", "\u200f",
    ],
)  # fmt: skip
def test_an_unfilled_template_variable_is_a_placeholder(reported):
    assert diagnose(reported, siblings={reported: "staging"}, candidates=()) == Diagnosis("placeholder")


@pytest.mark.parametrize(
    "reported",
    ["conv_81", "01J9ZC", "a{b}c", "100%", "550e8400-e29b-41d4-a716-446655440000", "😀", "nullable", "42"],
)
def test_a_possible_id_is_no_placeholder(reported):
    assert not is_placeholder(reported)


@given(ids)
def test_an_id_known_in_another_environment_is_diagnosed_as_known_there(conversation_id):
    diagnosis = diagnose(conversation_id, siblings={conversation_id: "staging"}, candidates=())
    assert diagnosis == Diagnosis("other-environment", KnownConversation(conversation_id, "staging"))


@pytest.mark.parametrize(
    "reported",
    [
        "conv_81xa", "CONV_81XA", " conv_81Xa", "conv_81Xa\n", '"conv_81Xa"', "'conv_81Xa'", "“conv_81Xa”",
        '\\"conv_81Xa\\"',
        "https://shop.example/chat/conv_81Xa", "/chat/conv_81Xa/",
        "chat/conv_81Xa?from=mail#top", "\ufeffconv_81Xa",
        "https://shop.example/c?conversationId=conv_81Xa", "https://shop.example/c?id=conv_81Xa&x=1",
        "https://shop.example/#/c/conv_81Xa", "conversationId=conv_81Xa",
    ],
)  # fmt: skip
def test_changed_case_white_space_quotes_and_addresses_are_alterations(reported):
    assert verdict(reported, "conv_81Xa") == Diagnosis("altered", KnownConversation("conv_81Xa", "production"))


def test_a_known_address_reported_as_its_last_segment_is_altered():
    assert verdict("conv_1", "https://shop.example/conv_1").kind == "altered"


def test_an_id_with_a_slash_in_it_is_found_at_the_end_of_a_path():
    assert verdict("/x/conv/slash", "conv/slash").kind == "altered"
    assert verdict("/x/other/slash", "conv/slash").kind == "never-seen"


def test_two_addresses_with_the_same_ending_are_no_alteration_of_each_other():
    assert verdict("https://shop.example/1/chat", "https://shop.example/2/chat").kind == "never-seen"


def test_the_right_candidate_is_found_among_others_of_the_same_bare_form():
    candidates = [
        KnownConversation("https://shop.example/1/chat", "production"),
        KnownConversation("CHAT", "production"),
    ]
    assert diagnose("chat", siblings={}, candidates=candidates[::-1]).match == candidates[1]


@given(ids)
def test_outer_white_space_and_quotes_never_change_the_bare_form(conversation_id):
    assert bare_form(f' "{conversation_id}"\n') == bare_form(conversation_id)


@given(st.text(max_size=255))
def test_a_bare_form_fits_its_column(text):
    assert len(bare_form(text)) <= 255


@given(ids)
def test_an_id_is_no_alteration_of_itself(conversation_id):
    assert verdict(conversation_id, conversation_id).kind == "never-seen"


def test_every_diagnosis_has_its_advice():
    assert set(ADVICE) == {"placeholder", "other-environment", "altered", "never-seen", "late"}
