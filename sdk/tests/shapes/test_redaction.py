"""Redaction keeps types and structure, and no values."""

import json
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from affidavit._shapes.name_patterns import NameIndex, Wildcard, normalize_name
from affidavit._shapes.redaction import DEFAULT, SENSITIVE_NAMES, Redactor
from affidavit._shapes.values_to_evidence import infer

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
    max_leaves=20,
)


def outline(value):
    if isinstance(value, dict):
        return {name: outline(of) for name, of in value.items()}
    return [outline(item) for item in value] if isinstance(value, list) else type(value).__name__


def scalars(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if inside is None else [scalar for of in inside for scalar in scalars(of)]


@given(json_values)
def test_erasing_keeps_every_type_and_no_value(value):
    erased = DEFAULT.redact(value)
    assert outline(erased) == outline(value)
    assert all(scalar in ("", 0, None) for scalar in scalars(erased))


@given(json_values)
def test_without_erasing_and_dropping_the_value_stays_as_it_is(value):
    assert Redactor(erase=False).redact(value) == value


@given(json_values)
def test_redaction_is_idempotent_and_leaves_its_argument_unchanged(value):
    before = json.dumps(value)
    assert DEFAULT.redact(DEFAULT.redact(value)) == DEFAULT.redact(value)
    assert json.dumps(value) == before


@pytest.mark.parametrize("name", [
    "password", "userPassword", "USER_PASSWORD", "x-api-key", "apiKey", "accessToken", "card_number", "ssn",
    "password2", "Set-Cookie", "dateOfBirth", "email",
])  # fmt: skip
def test_a_sensitive_name_is_known_in_every_spelling(name):
    assert DEFAULT.is_sensitive(name)


@pytest.mark.parametrize("name", ["id", "pinned", "tokens", "spinner", "secretary", "emailed", "street_art_ist", ""])
def test_a_name_is_sensitive_only_if_one_of_its_words_is(name):
    assert DEFAULT.is_sensitive(name) is (name == "street_art_ist")


@pytest.mark.parametrize("name", ["access_tokens", "apiKeys", "api_keys", "apikeys", "CreditCard", "birthdate"])
def test_a_sensitive_name_is_known_in_the_plural_and_without_a_separator(name):
    assert DEFAULT.is_sensitive(name)


def test_every_listed_name_is_sensitive():
    assert all(map(DEFAULT.is_sensitive, SENSITIVE_NAMES))


def test_names_patterns_and_functions_extend_the_list():
    redactor = Redactor(sensitive=["shoe size", re.compile("^x_"), lambda name: name.endswith("?")])
    assert all(map(redactor.is_sensitive, ["shoeSize", "x_1", "why?", "password"]))
    assert not redactor.is_sensitive("shoe")


def test_a_dropped_property_takes_everything_inside_with_it():
    redactor = Redactor(erase=False, drop=["internal note"])
    assert redactor.redact([{"internalNote": {"a": 1}, "b": [{"internal_note": 1}]}]) == [{"b": [{}]}]


@pytest.mark.parametrize("names", [{"drop": "text"}, {"drop": b"text"}, {"sensitive": "text"}])
def test_one_name_in_place_of_a_list_is_refused_and_not_read_letter_by_letter(names):
    with pytest.raises(ValueError, match=f"{next(iter(names))}: give a list of names"):
        Redactor(**names)


def test_a_replacement_is_applied_before_erasing():
    assert Redactor(replace=lambda value: [value, "more"]).redact(17) == [0, ""]


def test_a_redactor_remembers_no_name_that_is_data():
    redactor = Redactor()
    redactor.is_sensitive("anna@example.com")
    redactor.is_sensitive("name")
    assert list(redactor._judgements) == ["name"]


def test_only_names_without_any_redaction_are_plain():
    redactor = Redactor(sensitive=["shoe size"], drop=["note"])
    for name in ("name", "shoeSize", "password", "note", "anna@example.com"):
        redactor.is_sensitive(name)
    assert redactor.plain_names == {"name"}


@pytest.mark.parametrize(("rule", "names"), [
    ("user*Email", ["userEmail", "user_primary_email", "useremail", "ofUserHomeEmail", "USER-EMAIL"]),
    ("shoe*", ["shoe", "shoes", "shoeSize", "leftShoe"]),
    ("*size", ["size", "shoesize", "shoe_size", "sizeOfShoe"]),
    ("*", ["anything", "", "é"]),
    ("a*b*c", ["a b c", "axbxc", "AlphaBetaC"]),
])  # fmt: skip
def test_a_star_stands_for_any_run_of_characters(rule, names):
    assert all(map(Redactor(sensitive=[rule]).is_sensitive, names))


@pytest.mark.parametrize(("rule", "name"), [
    ("user*Label", "superuserLabel"), ("user*Label", "userLabels"), ("shoe*", "horseshoe"), ("*size", "sizes"),
    ("a*b*c", "acb"), ("aa*aa", "aaa"),
])  # fmt: skip
def test_a_star_stops_at_the_words_around_it(rule, name):
    """A match begins where a word begins and ends where a word ends. Its pieces are in order and do not overlap."""
    assert not Redactor(sensitive=[rule]).is_sensitive(name)


def test_a_name_with_a_star_is_dropped_only_where_it_is_the_whole_name():
    redactor = Redactor(drop=["user*Email"])
    assert redactor.redact({"userEmail": 1, "user_home_email": 1, "ofUserEmail": 1, "userEmails": 1}) == {
        "ofUserEmail": 0, "userEmails": 0,
    }  # fmt: skip
    assert list(infer({"a": {"userWorkEmail": {"b": 1}, "c": 1}}, redactor=redactor).properties["a"].properties) == [
        "c"
    ]


@given(st.text("ab *_", max_size=8), st.text("ab _", max_size=8))
def test_stars_mean_what_the_same_regular_expression_means(rule, name):
    words = f" {normalize_name(name)} "
    spelled = ".*".join(re.escape(normalize_name(piece)) for piece in f"{rule}*".split("*"))
    wild = Wildcard(f"{rule}*")
    assert wild.is_in(words) is bool(re.search(f" {spelled} ", words))
    assert wild.is_all_of(words) is bool(re.fullmatch(f" {spelled} ", words))


@pytest.mark.parametrize(("name", "is_sensitive"), [
    ("ipAddresses", True), ("ip_addresses", True), ("ipaddresses", True), ("salaries", True), ("taxBoxes", True),
    ("emails", True), ("pines", False), ("salarys", True), ("salarie", False), ("ipAddressed", False), ("days", False),
])  # fmt: skip
def test_a_sensitive_name_may_be_in_the_plural(name, is_sensitive):
    assert Redactor(sensitive=["salary", "tax box"]).is_sensitive(name) is is_sensitive


@given(st.lists(st.text("aesyS_1", min_size=1, max_size=6), max_size=4), st.text("aiesyS_1", max_size=12))
@example([], "tokens")
@example(["a s"], "asS")
@example(["as"], "ases")
@example(["sy"], "sies")
def test_names_mean_what_the_same_regular_expression_means(rules, name):
    names = [rule for rule in [*rules, "tokens", "token"] if normalize_name(rule)]
    spelled = "|".join(spell_plural(normalize_name(rule)) for rule in names)
    expected = re.search(f" (?!tokens )(?:{spelled}) ", f" {normalize_name(name)} ")
    assert NameIndex(names).is_in(normalize_name(name).split()) is bool(expected)


def spell_plural(words):
    spelled = words.replace(" ", " ?")
    ending = "(?:e?s)?" if re.search("(?:s|x|z|ch|sh)$", words) else "s?"
    return f"{spelled}{ending}|{spelled[:-1]}ies" if words.endswith("y") else f"{spelled}{ending}"


def test_a_rule_of_many_stars_is_fast():
    before = time.process_time()
    assert not Redactor(sensitive=["a*" * 200 + "b"]).is_sensitive("a" * 20_000)
    assert time.process_time() - before < 2


@pytest.mark.parametrize("star", ["", "*"])
def test_ten_thousand_rules_delay_no_name(star):
    names = [f"custom {letter}{number} field{star}" for letter in "abcdefghij" for number in range(1_000)]
    redactor = Redactor(sensitive=names, drop=[f"{name} note" for name in names])
    assert redactor.is_sensitive("customC7Field")
    assert redactor.drops("custom_j999_field_note")
    before = time.process_time()
    assert not any(redactor.is_sensitive(f"ordinary{letter}Name") for letter in "abcdefghij")
    assert time.process_time() - before < 0.5


def test_a_long_name_of_many_words_is_judged_in_linear_time():
    before = time.process_time()
    assert not DEFAULT.is_sensitive("a_" * 100_000)
    assert time.process_time() - before < 3
