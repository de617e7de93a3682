"""Redaction: what is erased before inference, what is marked, what is left out (contract 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from affidavit._json import Json

from .data_like import MAX_REMEMBERED, is_data
from .evidence import MAX_DEPTH
from .name_patterns import Wildcard, normalize_name

Sensitive: TypeAlias = "str | re.Pattern[str] | Callable[[str], bool]"
"""A name in any spelling (`card_number` means `cardNumber`, `*` any run of characters), a pattern, or a question."""

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

_ERASED: dict[type, Json] = {str: "", bool: False, int: 0, float: 0.0, type(None): None}  # bool is an int


@dataclass(frozen=True)
class Redactor:
    """What becomes of values and names before anything is inferred.

    erase: every scalar becomes a constant of its type. sensitive: names whose places are marked `redacted`,
    beside `SENSITIVE_NAMES`. drop: names that are left out with all that stands under them, `*` as above. replace: is
    given each whole value first, and returns what is to be looked at instead.
    """

    erase: bool = True
    sensitive: Iterable[Sensitive] = ()
    drop: Iterable[str] = ()
    replace: Callable[[Json], Json] | None = None
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _marking: tuple[Wildcard, ...] = field(init=False, repr=False, compare=False)
    _dropped: frozenset[str] = field(init=False, repr=False, compare=False)
    _dropping: tuple[Wildcard, ...] = field(init=False, repr=False, compare=False)
    _judged: dict[str, bool] = field(init=False, repr=False, compare=False, default_factory=dict)
    plain: set[str] = field(init=False, repr=False, compare=False, default_factory=set)
    """Names that were judged and that nothing is done about: neither sensitive nor dropped, and no data."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitive", tuple(self.sensitive))
        object.__setattr__(self, "drop", tuple(self.drop))
        plain, wild = _split_wildcards(rule for rule in self.sensitive if isinstance(rule, str))
        # `api key` is meant by `api_keys` and `apikey` too; but `tokens` are mostly a number of them.
        spelled = "|".join(normalize_name(name).replace(" ", " ?") for name in [*SENSITIVE_NAMES, *plain])
        object.__setattr__(self, "_pattern", re.compile(f" (?!tokens )(?:{spelled})s? "))
        object.__setattr__(self, "_marking", wild)
        plain, wild = _split_wildcards(self.drop)
        object.__setattr__(self, "_dropped", frozenset(map(normalize_name, plain)))
        object.__setattr__(self, "_dropping", wild)

    def is_sensitive(self, name: str) -> bool:
        """Whether the place of this name is marked `redacted`."""
        judgement = self._judged.get(name)
        if judgement is not None:
            return judgement
        sensitive = self._judge(name)
        if len(self._judged) < MAX_REMEMBERED and not is_data(name):
            self._judged[name] = sensitive
            if not sensitive and not self.drops(name):
                self.plain.add(name)
        return sensitive

    def _judge(self, name: str) -> bool:
        if self._pattern.search(f" {normalize_name(name)} ") or any(wild.is_in(name) for wild in self._marking):
            return True
        return any(
            bool(rule.search(name)) if isinstance(rule, re.Pattern) else rule(name)
            for rule in self.sensitive
            if not isinstance(rule, str)
        )

    def drops(self, name: str) -> bool:
        """Whether this name is left out with all that stands under it."""
        if not self.drop:
            return False
        return normalize_name(name) in self._dropped or any(wild.is_all_of(name) for wild in self._dropping)

    def redact(self, value: Json) -> Json:
        """The value as inference may see it: the same types, without what is dropped; if erasing, no value.

        `infer` does the same in its one pass, and comes to the same evidence.
        """
        return self._redact(self.replace(value) if self.replace else value, 1, self.erase)

    def keep_values(self, value: Json) -> Json:
        """The same with every scalar as it is: what may be looked at, and may not leave."""
        return self._redact(self.replace(value) if self.replace else value, 1, False)

    def _redact(self, value: Json, level: int, erase: bool) -> Json:
        if isinstance(value, dict):
            members = value if level <= MAX_DEPTH else {}  # nothing looks deeper
            return {name: self._redact(of, level + 1, erase) for name, of in members.items() if not self.drops(name)}
        if isinstance(value, list):
            return [self._redact(item, level + 1, erase) for item in (value if level <= MAX_DEPTH else [])]
        return _erase(value) if erase else value


def _erase(scalar: Json) -> Json:
    for scalar_type, constant in _ERASED.items():
        if isinstance(scalar, scalar_type):
            return constant
    raise TypeError(f"{type(scalar).__name__} is not a JSON type")


def _split_wildcards(names: Iterable[str]) -> tuple[list[str], tuple[Wildcard, ...]]:
    """Plain names, and those with `*`."""
    name_list = list(names)
    return [name for name in name_list if "*" not in name], tuple(Wildcard(name) for name in name_list if "*" in name)


DEFAULT = Redactor()
