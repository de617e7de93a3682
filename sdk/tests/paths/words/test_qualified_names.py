"""Words in PascalCase joined by dots: `Lumen.Network` is a word of an API, `Jane.Doe` a value of its users."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.lessons import learn, template

from affidavit._json import ABSENT
from affidavit._paths.signs.text import list_text_signs
from affidavit._paths.words.qualified_names import is_qualified_name
from affidavit._paths.words.writing_style import Style

SIGN = "reads like a qualified name"
WORD = st.from_regex(r"[A-Z]{1,3}[a-z][A-Za-z0-9]{0,8}", fullmatch=True)
QUALIFIED_NAME = st.lists(WORD, min_size=2, max_size=4).map(".".join)
NAMES = {
    "people": ("Jane.Doe", "Smith.John", "Anna.Lee", "Bob.Miller", "Tom.Baker"),
    "a family": ("Doe.Jane", "Doe.John", "Doe.Anna", "Doe.Tim", "Doe.Bill"),
    "a firm": ("Acme.Inc", "Acme.Corp", "Acme.Group", "Acme.Sales", "Acme.Network"),
    "firms": ("Acme.Corp", "Globex.Inc", "Initech.Ltd", "Hooli.Partners", "Umbrella.Holdings"),
}
FAMILIAR = ("Network", "Storage", "Resources")  # words of other APIs; `Compute` is held back with so little traffic
OTHERS = (
    ("GET /orders", [{"id": 1, "state": ""}]),
    ("GET /orders/17/lines", [{"id": 1}]),
    ("GET /reports", [{"id": 3}]),
)


@given(QUALIFIED_NAME)
def test_words_in_pascal_case_joined_by_dots_are_a_qualified_name(text):
    assert is_qualified_name(text)


@given(st.text(alphabet="aZ.9-_%é", max_size=12))
def test_each_part_of_a_qualified_name_begins_with_a_capital_and_has_a_small_letter(text):
    parts = text.split(".")
    expected = len(parts) > 1 and all(re.fullmatch("Z+a[aZ9]*", part) for part in parts)
    assert is_qualified_name(text) == expected


@given(QUALIFIED_NAME)
def test_a_qualified_name_has_no_sign_of_its_dot_or_its_capital_letters(text):
    signs = list_text_signs(f"{text}Name")
    assert SIGN in signs
    assert not {"has a dot", "in mixed case", "reads like a domain"}.intersection(signs)


@given(st.lists(QUALIFIED_NAME, max_size=12), st.permutations(range(12)))
def test_a_namespace_begins_most_qualified_names_whatever_their_order(names, order):
    shuffled = [names[index] for index in order if index < len(names)]
    for name in names:
        is_inside = Style(names).is_in_namespace(name)
        begin_alike = [other for other in names if other.split(".")[0] == name.split(".")[0]]
        assert is_inside == Style(shuffled).is_in_namespace(name)
        assert not is_inside or (len(begin_alike) >= 3 and 2 * len(begin_alike) > len(names))


def test_the_names_of_one_namespace_are_words_of_the_api():
    modules = {"Network": "gateways", "Storage": "buckets", "Resources": "deployments", "Compute": "machines"}
    learner = learn(
        ("GET /accounts/17/groups", [{"id": "/accounts/17/groups/lunar", "name": "lunar"}]),
        *((f"GET /accounts/17/groups/{name}", {"name": name}) for name in ("lunar", "amber-otter")),
        *(
            (f"GET /accounts/17/groups/{group}/providers/Lumen.{module}/{part}", {"value": [{"name": "x", part: 1}]})
            for group in ("lunar", "amber-otter")
            for module, part in modules.items()
        ),
    )
    for module, part in modules.items():
        path = f"/accounts/17/groups/lunar/providers/Lumen.{module}/{part}"
        learned = learner.template(path)
        assert learned.path == f"/accounts/{{accountId}}/groups/{{groupId}}/providers/Lumen.{module}/{part}"
        assert learned.undecided == (() if module in FAMILIAR else (5,))


@pytest.mark.parametrize("pattern", ["/users/{}", "/customers/{}/orders", "/customers/{}/orders/17", "/{}/orders"])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize("number", [1, 3, 5])
@pytest.mark.parametrize("echoed", [True, False], ids=["echoed", "not echoed"])
def test_names_of_people_and_firms_are_not_sent(pattern, names, number, echoed):
    seen = names[:number]
    learner = learn(
        *OTHERS,
        *((f"GET {pattern.format(name)}", {"size": 1, **({"name": name} if echoed else {})}) for name in seen),
    )
    for name in seen:
        learned = learner.template(pattern.format(name))
        assert learned.undecided or name not in learned.path


@pytest.mark.parametrize("pattern", ["/users/{}", "/customers/{}/orders"])
@pytest.mark.parametrize("name", ["Jane.Doe", "Smith.John", "Acme.Inc", "Acme.Corp"])
def test_a_name_without_any_other_traffic_is_not_sent(pattern, name):
    learned = learn((f"GET {pattern.format(name)}", ABSENT)).template(pattern.format(name))
    assert learned.undecided or name not in learned.path


def test_a_qualified_name_that_is_a_property_of_the_answer_is_a_word():
    learner = learn(
        ("GET /Systems/17", {"Actions": {"#ComputerSystem.Reset": {"target": "/Systems/17/Actions/"}}}),
        ("POST /Systems/17/Actions/ComputerSystem.Reset", ABSENT),
    )
    assert template(learner, "/Systems/17/Actions/ComputerSystem.Reset").endswith("/Actions/ComputerSystem.Reset")
