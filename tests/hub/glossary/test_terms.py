"""Pages explain their terms in place, with the text of the glossary."""

from __future__ import annotations

import re
from pathlib import Path

from django.template import Context

from hub.glossary.terms import read_terms
from hub.templatetags.glossary import term

ROOT = Path(__file__).resolve().parents[3]
TERM = re.compile(r'{% term "([^"]+)"(?: word="[^"]+")? %}')
# Words of the glossary that pages do not use, or use only next to another explained term
UNEXPLAINED = {
    "report", "reporter", "witness report", "descriptor", "undo", "gate", "publishable key", "scope", "operator",
}  # fmt: skip


def list_used_terms() -> list[str]:
    return [name for path in (ROOT / "templates").rglob("*.html") for name in TERM.findall(path.read_text())]


def test_every_term_on_a_page_is_in_the_glossary():
    assert list_used_terms()
    assert [name for name in list_used_terms() if name not in read_terms()] == []


def test_only_the_listed_words_of_the_glossary_are_explained_on_no_page():
    own_words = (ROOT / "docs/glossary.md").read_text().split("## Words of the field")[0]
    names = {
        name for name in read_terms() if re.search(rf"^\| .*\b{re.escape(name)}\b[^|]* \|", own_words, re.MULTILINE)
    }
    assert sorted(names - set(list_used_terms())) == sorted(UNEXPLAINED)


def test_words_in_the_same_row_can_have_separate_meanings():
    assert read_terms()["member"].meaning == "a person who may open one workspace"
    assert read_terms()["operator"].meaning == "a person who may open all workspaces"
    assert read_terms()["rule"].meaning == read_terms()["manual override"].meaning


def test_a_term_is_a_button_that_opens_its_explanation():
    html = term(Context(), "broken join")
    assert 'popovertarget="term-broken-join"' in html
    assert 'id="term-broken-join"' in html
    assert "<b>Broken join</b>: a reported outcome whose conversation is not known in that environment.</span>" in html


def test_no_page_explains_a_term_twice():
    used = list_used_terms()
    assert sorted(name for name in set(used) if used.count(name) > 1) == []
