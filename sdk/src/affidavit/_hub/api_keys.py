"""The form of API keys. Their checksum distinguishes a typo from an unknown key (contract §1).

A key is `gak_` (secret) or `pk_` (publishable) and 32 base62 characters; the last 6 of them are the CRC-32 of
all before them, prefix included.
"""

import re
import secrets
import zlib

from affidavit._credentials import KEY_VARIABLE, describe_mistake, read_variable
from affidavit._errors import ReportError

KEY_HEADER = "x-service-api-key"
_SECRET_PREFIX = "gak_"
_PUBLISHABLE_PREFIX = "pk_"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_RANDOM_LENGTH = 26  # 154 bits
_CHECKSUM_LENGTH = 6

_KEY_FORM = re.compile(r"(?:gak_|pk_)[0-9A-Za-z]{32}")


def make_key(prefix: str) -> str:
    """Return a new random key.

    prefix: `gak_` or `pk_`; any other raises ValueError.
    """
    if prefix not in (_SECRET_PREFIX, _PUBLISHABLE_PREFIX):
        raise ValueError("A key begins with gak_ or pk_.")
    body = prefix + "".join(secrets.choice(ALPHABET) for _ in range(_RANDOM_LENGTH))
    return body + _compute_checksum(body)


def is_well_formed(key: str) -> bool:
    """Return whether prefix, length, alphabet and checksum are right. The hub is not called."""
    if not _KEY_FORM.fullmatch(key):
        return False
    body, checksum = key[:-_CHECKSUM_LENGTH], key[-_CHECKSUM_LENGTH:]
    # The checksum follows from the characters before it, so the time of this comparison reveals no secret.
    return _compute_checksum(body) == checksum


def require_secret_key(api_key: str | None) -> str:
    """Return `api_key`, or the value of the environment variable AFFIDAVIT_API_KEY if `api_key` is None.

    Raises ReportError for a missing or publishable key, for a value with the prefix of something else (such as a
    signing secret), and for white space or characters that no key has.
    """
    api_key = read_variable(api_key, KEY_VARIABLE)
    if not api_key:
        detail = f"Give a secret API key (it begins with gak_), or set {KEY_VARIABLE}."
        raise ReportError(detail, code="missing-api-key")
    if api_key.startswith(_PUBLISHABLE_PREFIX):
        detail = "This is a publishable key (pk_), made for browsers. Give a secret one: it begins with gak_."
        raise ReportError(detail, code="publishable-key-refused")
    if mistake := describe_mistake(api_key, _SECRET_PREFIX):
        raise ReportError(f"As API key: {mistake}.", code="invalid-api-key")
    if not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        detail = "The API key holds white space or characters that no key has. Look for a line break at its end."
        raise ReportError(detail, code="invalid-api-key")
    return api_key


def _compute_checksum(text: str) -> str:
    number = zlib.crc32(text.encode("ascii"))
    digits = ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
