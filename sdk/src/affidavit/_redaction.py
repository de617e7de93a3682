"""Redaction: what is erased before inference, what is marked, what is left out (contract 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ._evidence import MAX_DEPTH
from ._json import Json
from ._names import MAX_REMEMBERED, is_data

Sensitive: TypeAlias = "str | re.Pattern[str] | Callable[[str], bool]"
"""A name in any spelling (`card_number` means `cardNumber` too), a pattern to search for, or a question."""

SENSITIVE_NAMES = (
    "password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp", "secret", "secrets", "token",
    "jwt", "access token", "refresh token", "id token", "authorization", "credential", "credentials",
    "cookie", "session id", "api key", "apikey", "access key", "private key", "signing key",
    "encryption key", "kubeconfig", "signature", "ssn", "social security number", "tax id", "passport",
    "national id", "driver license", "date of birth", "birth date", "birthday", "dob", "email",
    "e mail", "phone", "phone number", "mobile", "card number", "credit card", "cvv", "cvc", "iban",
    "bic", "account number", "routing number", "first name", "last name", "full name", "maiden name",
    "street", "postal code", "zip code", "ip address",
)  # fmt: skip

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")
_ERASED: dict[type, Json] = {str: "", bool: False, int: 0, float: 0.0, type(None): None}  # bool is an int


@dataclass(frozen=True)
class Redactor:
    """What becomes of values and names before anything is inferred.

    erase: every scalar becomes a constant of its type. sensitive: names whose places are marked `redacted`,
    beside `SENSITIVE_NAMES`. drop: names that are left out with all that stands under them. replace: is given
    each whole value first, and returns what is to be looked at instead.
    """

    erase: bool = True
    sensitive: Iterable[Sensitive] = ()
    drop: Iterable[str] = ()
    replace: Callable[[Json], Json] | None = None
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _dropped: frozenset[str] = field(init=False, repr=False, compare=False)
    _judged: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", tuple(self.sensitive))
        object.__setattr__(self, "drop", tuple(self.drop))
        names = [*SENSITIVE_NAMES, *(rule for rule in self.sensitive if isinstance(rule, str))]
        spelled = "|".join(re.escape(_words(name)) for name in names)
        object.__setattr__(self, "_pattern", re.compile(f" (?:{spelled}) "))
        object.__setattr__(self, "_dropped", frozenset(map(_words, self.drop)))

    def is_sensitive(self, name: str) -> bool:
        """Whether the place of this name is marked `redacted`."""
        known = self._judged.get(name)
        if known is not None:
            return known
        sensitive = self._judge(name)
        if len(self._judged) < MAX_REMEMBERED and not is_data(name):
            self._judged[name] = sensitive
        return sensitive

    def _judge(self, name: str) -> bool:
        return bool(self._pattern.search(f" {_words(name)} ")) or any(
            bool(rule.search(name)) if isinstance(rule, re.Pattern) else rule(name)
            for rule in self.sensitive
            if not isinstance(rule, str)
        )

    def drops(self, name: str) -> bool:
        """Whether this name is left out with all that stands under it."""
        return bool(self._dropped) and _words(name) in self._dropped

    def redact(self, value: Json) -> Json:
        """The value as inference may see it: the same types, without what is dropped; if erasing, no value.

        `infer` does the same in its one pass, and comes to the same evidence.
        """
        return self._redact(self.replace(value) if self.replace else value, 1)

    def _redact(self, value: Json, level: int) -> Json:
        if isinstance(value, dict):
            kept = value if level <= MAX_DEPTH else {}  # nothing looks deeper
            return {name: self._redact(of, level + 1) for name, of in kept.items() if not self.drops(name)}
        if isinstance(value, list):
            return [self._redact(item, level + 1) for item in (value if level <= MAX_DEPTH else [])]
        return _erased(value) if self.erase else value


def _erased(scalar: Json) -> Json:
    for scalar_type, constant in _ERASED.items():
        if isinstance(scalar, scalar_type):
            return constant
    raise TypeError(f"{type(scalar).__name__} is not a JSON type")


def _words(name: str) -> str:
    """`cardNumber`, `card_number` and `Card-Number` are all `card number`."""
    return " ".join(_WORDS.findall(name)).lower()


DEFAULT = Redactor()
