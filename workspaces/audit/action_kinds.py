"""The kinds of actions by which the page of the audit log filters, and which of them it leaves out by default."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from workspaces.models import AuditEntry

CHANGES, EVERYTHING = "", "all"
# The words with which the actions of a kind begin. All other actions count as settings.
ACTION_BEGINNINGS = {
    "keys": ("key ", "signing secret ", "webhook secret ", "encryption "),
    "people": (
        *("member ", "role ", "invitation ", "signed ", "sign-in ", "second factor ", "recovery codes ", "password "),
        *("single sign-on ", "user deleted"),
    ),
    "decisions": ("confirmation ",),
}
SIGN_INS = ("signed ", "sign-in ")
KEY_BEGINNING = "key gak_"  # the beginning of an actor's name if the actor is a secret key
KIND_LABELS = {
    CHANGES: "changes, and decisions by people",
    "settings": "settings",
    "keys": "keys and secrets",
    "people": "people and sign-ins",
    "decisions": "decisions on confirmations",
    EVERYTHING: "everything",
}


def select_kind(kind: str) -> Q:
    """Return the condition of a kind of actions; all of them for `all`."""
    if kind == CHANGES:
        by_keys = _begins_with(ACTION_BEGINNINGS["decisions"]) & Q(actor__startswith=KEY_BEGINNING)
        return ~_begins_with(SIGN_INS) & ~by_keys
    if kind == "settings":
        return ~_begins_with([words for beginnings in ACTION_BEGINNINGS.values() for words in beginnings])
    return _begins_with(ACTION_BEGINNINGS.get(kind, ()))


def describe_hidden(entries: QuerySet[AuditEntry]) -> str:
    """Say what is left out if no kind is chosen."""
    is_sign_in = _begins_with(SIGN_INS)
    parts = {"sign-ins": entries.filter(is_sign_in), "decisions by keys": entries.exclude(is_sign_in)}
    return " or ".join(words for words, rows in parts.items() if rows.exists())


def _begins_with(beginnings: Sequence[str]) -> Q:
    condition = Q()
    for words in beginnings:
        condition |= Q(action__startswith=words)
    return condition
