"""Redaction: erase values, and mark or drop names, before inference (contract §4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from affidavit._data_detection import MAX_REMEMBERED, is_data
from affidavit._json import Json

from .evidence import MAX_DEPTH
from .name_patterns import NameIndex, Wildcard, normalize_name

_T = TypeVar("_T")

Sensitive: TypeAlias = "str | re.Pattern[str] | Callable[[str], bool]"
"""A name in any spelling (`card_number` matches `cardNumber`, `*` any characters), a pattern, or a predicate."""

SENSITIVE_NAMES = (
    "password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp", "secret", "token",
    "jwt", "access token", "refresh token", "id token", "authorization", "credential",
    "cookie", "session id", "api key", "access key", "private key", "secret key", "signing key",
    "encryption key", "kubeconfig", "signature", "ssn", "social security number", "tax id", "passport",
    "national id", "driver license", "date of birth", "birth date", "birthday", "dob", "email",
    "e mail", "user email", "phone", "phone number", "mobile", "card number", "credit card", "cvv", "cvc", "iban",
    "bic", "account number", "routing number", "first name", "last name", "full name", "maiden name",
    "street", "postal code", "zip code", "ip address",
)  # fmt: skip

_ERASED: dict[type, Json] = {str: "", bool: False, int: 0, float: 0.0, type(None): None}  # a bool is an int


@dataclass(frozen=True)
class Redactor:
    """The rules by which values and names are redacted before inference.

    erase: whether to replace every scalar by a constant of its type.
    sensitive: the names to mark `redacted`, in addition to `SENSITIVE_NAMES`.
    drop: the names to leave out with everything inside, in any spelling and with `*`.
    replace: a function that is called first, with each whole value, and returns the value to inspect instead.

    Raises ValueError for one name in place of a list of names.
    """

    erase: bool = True
    sensitive: Iterable[Sensitive] = ()
    drop: Iterable[str] = ()
    replace: Callable[[Json], Json] | None = None
    _sensitive_names: NameIndex = field(init=False, repr=False, compare=False)
    _sensitive_wildcards: tuple[Wildcard, ...] = field(init=False, repr=False, compare=False)
    _dropped_names: frozenset[str] = field(init=False, repr=False, compare=False)
    _dropped_wildcards: tuple[Wildcard, ...] = field(init=False, repr=False, compare=False)
    _judgements: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)
    plain_names: set[str] = field(init=False, repr=False, compare=False, default_factory=set)
    """A cache of names that are neither sensitive nor dropped nor data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", _require_list("sensitive", self.sensitive))
        object.__setattr__(self, "drop", _require_list("drop", self.drop))
        names, wildcards = _split_wildcards(rule for rule in self.sensitive if isinstance(rule, str))
        object.__setattr__(self, "_sensitive_names", NameIndex([*SENSITIVE_NAMES, *names]))
        object.__setattr__(self, "_sensitive_wildcards", wildcards)
        names, wildcards = _split_wildcards(self.drop)
        object.__setattr__(self, "_dropped_names", frozenset(map(normalize_name, names)))
        object.__setattr__(self, "_dropped_wildcards", wildcards)

    def is_sensitive(self, name: str) -> bool:
        """Return whether this name is marked `redacted`."""
        judgement = self._judgements.get(name)
        if judgement is not None:
            return judgement
        judgement = self._judge(name)
        if len(self._judgements) < MAX_REMEMBERED and not is_data(name):
            self._judgements[name] = judgement
            if not judgement and not self.drops(name):
                self.plain_names.add(name)
        return judgement

    def _judge(self, name: str) -> bool:
        words = normalize_name(name)
        if self._sensitive_names.is_in(words.split()):
            return True
        if any(wildcard.is_in(f" {words} ") for wildcard in self._sensitive_wildcards):
            return True
        return any(
            bool(rule.search(name)) if isinstance(rule, re.Pattern) else rule(name)
            for rule in self.sensitive
            if not isinstance(rule, str)
        )

    def drops(self, name: str) -> bool:
        """Return whether this name is left out with everything inside."""
        if not self.drop:
            return False
        words = normalize_name(name)
        if words in self._dropped_names:
            return True
        return any(wildcard.is_all_of(f" {words} ") for wildcard in self._dropped_wildcards)

    def redact(self, value: Json) -> Json:
        """Return the value as inference may see it: without dropped names and, if `erase`, without scalar values.

        `infer` does the same in its single pass, so that both lead to the same evidence.
        """
        return self._redact(self.replace(value) if self.replace else value, 1, self.erase)

    def keep_values(self, value: Json) -> Json:
        """Return what `redact` returns, with scalar values kept. The result must not leave the process."""
        return self._redact(self.replace(value) if self.replace else value, 1, False)

    def _redact(self, value: Json, level: int, erase: bool) -> Json:
        if isinstance(value, dict):
            members = value if level <= MAX_DEPTH else {}  # nothing deeper is inspected
            kept_members = {name: member for name, member in members.items() if not self.drops(name)}
            return {name: self._redact(member, level + 1, erase) for name, member in kept_members.items()}
        if isinstance(value, list):
            return [self._redact(item, level + 1, erase) for item in (value if level <= MAX_DEPTH else [])]
        return _erase(value) if erase else value


def _require_list(argument: str, rules: Iterable[_T]) -> tuple[_T, ...]:
    """Return the rules. Raises ValueError for a text: it is iterable too, and each of its letters would be a rule."""
    if isinstance(rules, str | bytes):
        raise ValueError(f"{argument}: give a list of names, even if there is only one")
    return tuple(rules)


def _erase(scalar: Json) -> Json:
    for scalar_type, constant in _ERASED.items():
        if isinstance(scalar, scalar_type):
            return constant
    raise TypeError(f"{type(scalar).__name__} is not a JSON type")


def _split_wildcards(names: Iterable[str]) -> tuple[list[str], tuple[Wildcard, ...]]:
    """Return the names without `*`, and those with it as wildcards."""
    name_list = list(names)
    return [name for name in name_list if "*" not in name], tuple(Wildcard(name) for name in name_list if "*" in name)


DEFAULT = Redactor()
