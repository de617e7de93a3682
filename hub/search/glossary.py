"""Search for the terms of the glossary."""

from __future__ import annotations

from hub.glossary.terms import read_terms
from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_matches

MIN_TERM_LENGTH = 4  # characters: shorter texts are in too many words


def search_terms(text: str) -> ResultGroup:
    """Find the terms of the glossary that contain the text, and those that the text contains."""
    lowercase_text = text.lower()
    terms = [
        term
        for term in read_terms().values()
        if (len(lowercase_text) >= MIN_TERM_LENGTH and lowercase_text in term.name.lower())
        or (len(term.name) >= MIN_TERM_LENGTH and term.name.lower() in lowercase_text)
    ]
    results = [
        SearchResult("glossary", mark_matches(term.title, text), detail=term.meaning, fragment=term.id)
        for term in terms[:MAX_RESULTS]
    ]
    return ResultGroup("Glossary", results, len(terms) > MAX_RESULTS, "glossary")
