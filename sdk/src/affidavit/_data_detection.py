"""Recognize data by its form: names, keys and path segments that are values rather than words (contract §4).

Every pattern runs in linear time. Only names that may be kept are remembered, never data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import unquote

MAX_NAME_LENGTH = 200  # characters; a longer key is a text, not a name
MAX_REMEMBERED = 20_000  # ordinary names, remembered so that each is judged once
MIN_MIXED = 24  # characters; a shorter run of letters and digits is not judged
_LEAST_MEAN_RUN = 3.5  # below this mean length of its runs of digits and letters, a text has no words
# In a random mix of capitals and small letters, the mean run is shorter than this, or words are a smaller share of
# it than this.
_LEAST_MEAN_MIXED_RUN = 4.5
_LEAST_IN_WORDS = 0.8
# In a random mix of digits and letters of one case, there are at least so many numbers, and words are a smaller share
# of it than this.
_LEAST_NUMBERS = 2
_LEAST_IN_WORDS_OF_ONE_CASE = 0.5

_PREFIXES_OF_KEYS_ALONE = r"[srp]k_(?:live|test)|gh[pousr]|github_pat|glpat|shpat|whsec|dop_v1|gak"
_KEY_PREFIXES = rf"{_PREFIXES_OF_KEYS_ALONE}|npm|pypi|hf|gas|pk|sk"
_LONG_KEY = 32  # characters behind a prefix such as `pk_`, which ordinary names have too; so long a mix is a key

_HAS_SIGN = re.compile(rf"[0-9@.:]|[A-Fa-f]{{8}}|(?:{_KEY_PREFIXES})[_-]|AKIA|ASIA|AIza")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_EMAIL = re.compile(r"[^@\s]@(?:[\w-]{1,63}\.)+[^\W\d_]{2,24}(?![^\W_])")
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.")
_SECRET_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    rf"(?:({_PREFIXES_OF_KEYS_ALONE})|{_KEY_PREFIXES})[_-]"
    r"((?=[A-Za-z]*[0-9])[A-Za-z0-9]{16,}|[A-Za-z0-9_+/=-]{16,})"
    r"|xox[abeprs]-[0-9][A-Za-z0-9-]{9,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}"
    r"|(?:ya29|SG)\.[A-Za-z0-9_-]{16,})"
)
_IPV4_INSIDE = re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")
_DIGITS_INSIDE = re.compile(r"[0-9]{8}")
_HEX_INSIDE = re.compile(r"(?<![A-Za-z0-9])(?=[A-Fa-f]*[0-9])(?=[0-9]*[A-Fa-f])[0-9A-Fa-f]{12,}(?![A-Za-z0-9])")
# Beside other text, a shorter run counts only if digits and letters alternate as in no word: `3f9ab27c` and not
# `face2024`.
_SHORT_HEX_INSIDE = re.compile(
    r"(?<![A-Za-z0-9])(?=(?:[0-9]+[A-Fa-f]+[0-9]|[A-Fa-f]+[0-9]+[A-Fa-f]+[0-9]))[0-9A-Fa-f]{8,11}(?![A-Za-z0-9])"
)
_MIXED_INSIDE = re.compile(rf"[A-Za-z0-9]{{{MIN_MIXED},}}")
_RUNS = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")
_WORD = re.compile(r"(?=.*[AEIOUYaeiouy])(?!.*[b-df-hj-np-tv-xz]{5})[A-Z]?[a-z]{2,}")

_NUMBER = re.compile(r"(?![+-][0-9]$)[+-]?[0-9]+(?:[.,][0-9]+)*%?")
_PHONE = re.compile(r"\+?[0-9(][0-9 ()./-]{6,}[0-9]")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{8,}", re.IGNORECASE)
_DATE = re.compile(
    r"[0-9]{4}-(?:[0-9]{2}|W[0-9]{2}|Q[1-4])(?:-[0-9]{2})?(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?)?"
    r"|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?"
)
_HOSTNAME = re.compile(
    r"(?:(?:[^\W_]|\*)(?:(?:[^\W_]|-){0,61}[^\W_])?\.)+([a-z]{2,13})\.?(?::[0-9]{1,5})?", re.IGNORECASE
)
_IPV4 = re.compile(r"((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?:/[0-9]{1,2}|:[0-9]{1,5})?")
_IPV6 = re.compile(
    r"\[?([0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:(?:\.[0-9]{1,3}){3})?)(?:%[\w.-]{1,32})?"
    r"(?:/[0-9]{1,3})?(?:\](?:/[0-9]{1,3}|:[0-9]{1,5})?)?"
)
_CARD = re.compile(r"[0-9](?:[ -]?[0-9]){12,18}")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?")

# Dotted names are common (`http.status_code`, `service.name`): only endings that such names rarely have show a host.
_HOST_ENDINGS = frozenset({"com", "net", "org", "edu", "gov", "local", "internal", "localdomain", "arpa"})
_LONG_HOST_ENDINGS = frozenset({"io", "dev", "app", "cloud", "ai", "co", "uk", "de", "fr", "eu", "jp", "br"})

_ordinary: set[str] = set()


def detect_data_kind(text: str) -> str | None:
    """Return the kind of value that `text` is or holds; None for an ordinary name or text.

    The kind is one of: text, uuid, jwt, key, email, card, iban, number, date, ip, hostname, hex, digits, mixed, url.
    """
    if len(text) > MAX_NAME_LENGTH:
        return "text"
    text = spell_plainly(text)
    if not _HAS_SIGN.search(text):
        return None
    return _detect_whole_kind(text) or _detect_inner_kind(text)


def spell_plainly(text: str) -> str:
    """Return the text without percent-encoding, and with the usual digits and characters for those of other scripts.

    All dashes are hyphens, as in a telephone number that was copied from a page.
    """
    if "%" in text:
        text = unquote(text)
    if text.isascii():
        return text
    usual = unicodedata.normalize("NFKC", text)
    return "".join(map(_spell_character, usual))


def _spell_character(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return "-" if unicodedata.category(character) == "Pd" else character


def is_data(name: str) -> bool:
    """Return whether a map key or a query name is a value, so that it must not be kept as a name."""
    if name in _ordinary:
        return False
    if detect_data_kind(name) is not None:
        return True
    if len(_ordinary) < MAX_REMEMBERED:
        _ordinary.add(name)
    return False


def _detect_whole_kind(text: str) -> str | None:
    """Return the kind of value that all of `text` is, if any."""
    if _CARD.fullmatch(text) and _passes_luhn(text):
        return "card"
    if _DATE.fullmatch(text):
        return "date"
    if _is_ip(text):
        return "ip"
    if _NUMBER.fullmatch(text) or _PHONE.fullmatch(text):
        return "number"
    if _IBAN.fullmatch(text) and _passes_mod_97(text):
        return "iban"
    if _HEX.fullmatch(text):
        return "hex"
    return "hostname" if _is_hostname(text) else None


def _detect_inner_kind(text: str) -> str | None:
    """Return the kind of value in a part of `text` that no ordinary name has, if any."""
    if _UUID.search(text):
        return "uuid"
    if "@" in text and _EMAIL.search(text):
        return "email"
    if "://" in text:
        return "url"
    if _JWT.search(text):
        return "jwt"
    if any(not body or _is_random(body, bool(prefix)) for prefix, body in _SECRET_KEY.findall(text)):
        return "key"
    if _IPV4_INSIDE.search(text):
        return "ip"
    if _DIGITS_INSIDE.search(text):
        return "digits"
    if _HEX_INSIDE.search(text) or _SHORT_HEX_INSIDE.search(text):
        return "hex"
    return "mixed" if any(_is_mixed(part) for part in _MIXED_INSIDE.findall(text)) else None


def _is_mixed(part: str) -> bool:
    """Return whether `part` is letters and digits without words: a camelCase name with a number has longer runs.

    If all letters have one case, as in base32, digits alone end a run. Then long runs are no words if they cannot be
    pronounced.
    """
    if part.isalpha() or part.isdigit():
        return False
    if _has_no_words(part):
        return True
    runs = _RUNS.findall(part.lower()) if part in (part.lower(), part.upper()) else []
    numbers = sum(run.isdigit() for run in runs)
    return numbers >= _LEAST_NUMBERS and _measure_words(runs) < _LEAST_IN_WORDS_OF_ONE_CASE


def _is_random(body: str, has_own_prefix: bool) -> bool:
    """Return whether what follows the prefix of a key looks random.

    It does if it has a digit and no sign such as `_`, or if it has no words. A mix of capitals and small letters also
    looks random if only keys have its prefix, if it is long, or if it has hardly any words.

    has_own_prefix: whether only keys have this prefix.
    """
    if (body.isalnum() and not body.isalpha()) or _has_no_words(body):
        return True
    if body in (body.lower(), body.upper()):
        return False
    return has_own_prefix or len(body) >= _LONG_KEY or _has_hardly_words(body)


def _has_no_words(part: str) -> bool:
    return len(part) / len(_RUNS.findall(part)) < _LEAST_MEAN_RUN


def _has_hardly_words(part: str) -> bool:
    runs = _RUNS.findall(part)
    return len(part) / len(runs) < _LEAST_MEAN_MIXED_RUN or _measure_words(runs) < _LEAST_IN_WORDS


def _measure_words(runs: Sequence[str]) -> float:
    """Return the share of the characters of all runs that are in words."""
    return sum(len(run) for run in runs if _WORD.fullmatch(run)) / sum(map(len, runs))


def _is_ip(text: str) -> bool:
    match = _IPV4.fullmatch(text) or _IPV6.fullmatch(text)
    if match is None:
        return False
    try:
        ip_address(match[1])
    except ValueError:
        return False
    return True


def _is_hostname(text: str) -> bool:
    match = _HOSTNAME.fullmatch(text)
    if match is None:
        return False
    ending = match[1].lower()
    return ending in _HOST_ENDINGS or (text.count(".") > 1 and ending in _LONG_HOST_ENDINGS)


def _passes_luhn(text: str) -> bool:
    digits = [int(character) for character in reversed(text) if character.isdigit()]
    doubled_digits = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled_digits)) % 10 == 0


def _passes_mod_97(text: str) -> bool:
    plain = text.replace(" ", "")
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1
