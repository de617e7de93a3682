"""Rules of redaction that are set in the hub, asked for by reporters before they report anything (contract 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import ReadingTransport
from affidavit._json import Json
from affidavit._shapes.redaction import Redactor

PATH = "/api/witness-rules"


def asked_rules(way: ReadingTransport, key: str, environment: str | None) -> Json:
    """The hub's answer. Raises ReportError."""
    query = f"?{urlencode({'environment': environment})}" if environment is not None else ""
    return way.get_json(PATH + query, {KEY_HEADER: key})


def ruled(redactor: Redactor, answer: Json) -> Redactor:
    """The redactor with the hub's rules on top of its own. Kinds that it does not know are left out.

    answer: `{"rules": [{"kind": "sensitive" or "drop", "name": "user*Email"}]}`. Raises ReportError for any other.
    """
    rules = answer.get("rules") if isinstance(answer, dict) else None
    if not isinstance(rules, list):
        raise bad_answer()
    return replace(
        redactor,
        sensitive=(*redactor.sensitive, *_named(rules, "sensitive")),
        drop=(*redactor.drop, *_named(rules, "drop")),
    )


def _named(rules: list[Json], kind: str) -> Iterator[str]:
    for rule in rules:
        if isinstance(rule, dict) and rule.get("kind") == kind and isinstance(name := rule.get("name"), str) and name:
            yield name
