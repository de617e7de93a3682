"""Describe entries of the audit log in words that a person reads in one line (pure). Exports have the stored facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from wire.format_numbers import count_noun

ACTIONS = {
    "confirmation confirmed": "call confirmed",
    "confirmation declined": "call declined",
    "confirmation decision undone": "decision on a call undone",
}
# How a fact is named on the page. All other names are written with spaces; "" is for values that explain themselves.
LABELS = {
    "operation": "",
    "place": "location",
    "confirmationId": "confirmation",
    "because": "reason",
    "days": "for",
    "query": "filters",
    "v1Until": "version 1 accepted until",
    "previousVerifiesUntil": "previous secret verifies until",
    "previousSignsUntil": "previous secret signs until",
    "expiresAt": "expires",
}
# The order of facts in the line; changes come last. PostgreSQL returns the facts of an entry by the length of their
# names.
OTHER_NAMES = ""
READING_ORDER = (
    *("operation", "key", "secret", "member", "email", "annotation", "alert", "page"),
    *("name", "confirmationId", "query", "change", "place", OTHER_NAMES, "days", "environment", "environments"),
)
# (name of the old value, name of the new value, label)
CHANGES = (
    ("before", "after", ""),
    ("before", "annotation", "text"),
    ("beforeAt", "at", "time"),
    ("from", "to", ""),
)
TEMPLATE_RULE_NAMES = ("source", "target", "method", "matching")  # together they are one sentence
CHANGED_IN_PLACE = ("label", "audience")  # their lists are [before, after]
# What a stored value means, by name and value
MEANINGS: Mapping[tuple[str, str], str] = {
    ("kind", "sensitive"): "mark as redacted",
    ("kind", "drop"): "drop with everything inside",
}
# What an empty number of days means, by the kind of data
RETENTION_MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(
        ("broken_joins", "rejections", "minted_intents", "confirmations", "audit", "annotations"), "keep all"
    ),
    **dict.fromkeys(("inbox", "observed_days", "alerts"), "the default"),
}
LINK_NAMES = ("changeId",)  # only links on the page need them
HINT = re.compile(r"(\w+Hint) (true|false)")
PREFIX_NAMES = ("key", "secret")  # their values are the beginning of a longer text
SHOWN_AS = "shown as"  # between the two templates of a rule
ID_NAMES = ("confirmationId", "conversation", "user")
CODE = (*ID_NAMES, "operation", "place", "key", "secret", "template", "audience")
UUID_TEXT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
SHORT_ID = 8  # characters
NONE = "none"


@dataclass(frozen=True)
class Fact:
    """One fact of an entry.

    name: the name as it is stored; "" if the page shows the fact in words of its own, such as a change.
    before: the old value if this is a change; `value` is then the new one.
    full_id: the whole id if `value` is its beginning.
    verb: what stands between the old value and the new one.
    is_beginning: whether the value is the beginning of a longer text.
    """

    name: str
    label: str
    value: Any
    before: Any = None
    is_change: bool = False
    full_id: str = ""
    verb: str = "→"

    @property
    def is_beginning(self) -> bool:
        return bool(self.full_id) or (self.name in PREFIX_NAMES and isinstance(self.value, str))

    @property
    def is_code(self) -> bool:
        return (self.name or self.label) in CODE or self.verb == SHOWN_AS


def describe_action(action: str) -> str:
    """Return the words of the page for an action."""
    return ACTIONS.get(action, action)


def describe_facts(facts: Mapping[str, Any]) -> list[Fact]:
    """Return every fact that has a value, without LINK_NAMES: what the entry is about first, changes last."""
    single_facts = {name: value for name, value in facts.items() if name not in LINK_NAMES}
    changes: list[Fact] = []
    if single_facts.keys() >= {"source", "target"}:
        changes.extend(_describe_template_rule(single_facts))
        single_facts = {name: value for name, value in single_facts.items() if name not in TEMPLATE_RULE_NAMES}
    for old_name, new_name, label in CHANGES:
        if old_name in single_facts and new_name in single_facts:
            old_value, new_value = single_facts.pop(old_name), single_facts.pop(new_name)
            changes.extend(_describe_change(label, old_value, new_value))
    for name in CHANGED_IN_PLACE:
        if isinstance(single_facts.get(name), list) and len(single_facts[name]) == 2:
            changes.extend(_describe_change(name, *single_facts.pop(name)))
    names = sorted(single_facts, key=_find_position)
    return [*(_describe_fact(name, single_facts[name]) for name in names if single_facts[name] != ""), *changes]


def _describe_template_rule(facts: Mapping[str, Any]) -> Iterator[Fact]:
    method = facts.get("method", "all")
    methods = "all methods:" if method == "all" else f"{method}:"
    yield Fact("", methods, facts["target"], before=facts["source"], is_change=True, verb=SHOWN_AS)
    if facts.get("matching"):
        yield Fact("", "", "with every other path that matches it")


def space_name(name: str) -> str:
    """Write `previousSignsUntil` as `previous signs until`, and `broken_joins` as `broken joins`."""
    return re.sub("(?<=[a-z0-9])([A-Z])", r" \1", name).replace("_", " ").lower()


def _find_position(name: str) -> int:
    return READING_ORDER.index(name if name in READING_ORDER else OTHER_NAMES)


def _describe_fact(name: str, value: Any) -> Fact:
    label = LABELS.get(name, space_name(name))
    if isinstance(value, str) and (meaning := MEANINGS.get((name, value))):
        return Fact("", "", meaning)
    if name == "place" and isinstance(value, str) and (hint := HINT.fullmatch(value)):
        return Fact("", space_name(hint[1].removesuffix("Hint")), "yes" if hint[2] == "true" else "no")
    if name == "days" and isinstance(value, int) and not isinstance(value, bool):
        return Fact(name, label, count_noun(value, "day"))
    if name == "query" and isinstance(value, str):
        members = parse_qsl(value, keep_blank_values=True)
        return Fact(name, label, ", ".join(f"{key} {text}".strip() for key, text in members))
    if isinstance(value, str) and (UUID_TEXT.fullmatch(value) or name in ID_NAMES) and len(value) > SHORT_ID:
        return Fact(name, label, value[:SHORT_ID], full_id=value)
    return Fact(name, label, _name_nothing(value))


def _describe_change(label: str, before: Any, after: Any) -> Iterator[Fact]:
    """Yield a change; for two objects, yield a fact for each of their members, whether it changed or not."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {**before, **after}:
            if name in before and name in after and before[name] == after[name]:
                yield _describe_fact(name, after[name])
            else:
                values = (_name_days(name, values.get(name)) for values in (before, after))
                yield from _describe_change(LABELS.get(name, space_name(name)), *values)
    else:
        yield Fact("", label, _name_nothing(after), before=_name_nothing(before), is_change=True)


def _name_days(name: str, value: Any) -> Any:
    return RETENTION_MEANINGS.get(name) if value is None else value


def _name_nothing(value: Any) -> Any:
    return NONE if value in ("", [], {}) else value
