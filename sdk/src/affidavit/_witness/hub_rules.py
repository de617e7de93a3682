"""Redaction rules that people set in the hub. A reporter fetches them before it reports anything (contract §4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

from affidavit._errors import ReportError
from affidavit._hub.api_keys import KEY_HEADER
from affidavit._hub.responses import bad_answer
from affidavit._hub.transport import ReadingTransport
from affidavit._json import Json
from affidavit._shapes.redaction import Redactor

_PATH = "/api/witness-rules"
_MAX_RULES = 10_000
_MAX_NAME = 200  # characters; the hub takes 100


def fetch_rules(channel: ReadingTransport, key: str, environment: str | None) -> Json:
    """Return the hub's answer. Raises ReportError."""
    query = f"?{urlencode({'environment': environment})}" if environment is not None else ""
    return channel.get_json(_PATH + query, {KEY_HEADER: key})


def apply_rules(redactor: Redactor, answer: Json) -> Redactor:
    """Return the redactor with the hub's rules added to its own; rules of an unknown kind are ignored.

    answer: `{"rules": [{"kind": "sensitive" or "drop", "name": "user*Email"}]}`.

    Raises ReportError for an answer of another form, and for more or longer rules than anybody writes: each new name is
    compared with all of them.
    """
    rules = answer.get("rules") if isinstance(answer, dict) else None
    if not isinstance(rules, list):
        raise bad_answer()
    sensitive, drop = [*_list_names(rules, "sensitive")], [*_list_names(rules, "drop")]
    if len(rules) > _MAX_RULES or any(len(name) > _MAX_NAME for name in sensitive + drop):
        detail = f"It has over {_MAX_RULES:,} rules, or one of over {_MAX_NAME} characters. Undo some in the hub."
        raise ReportError(detail, code="bad-answer")
    return replace(redactor, sensitive=(*redactor.sensitive, *sensitive), drop=(*redactor.drop, *drop))


def _list_names(rules: list[Json], kind: str) -> Iterator[str]:
    for rule in rules:
        if isinstance(rule, dict) and rule.get("kind") == kind and isinstance(name := rule.get("name"), str) and name:
            yield name
