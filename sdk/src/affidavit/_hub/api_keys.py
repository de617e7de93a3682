"""The form of API keys, so that a typo is told from an unknown key (contract 1).

A key is `gak_` (secret) or `pk_` (publishable) and 32 base62 characters; the last 6 of them are the CRC-32 of
all before them, prefix included.
"""

import re
import secrets
import zlib

from affidavit._errors import ReportError

KEY_HEADER = "x-service-api-key"
SECRET_PREFIX = "gak_"
PUBLISHABLE_PREFIX = "pk_"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM_LENGTH = 26  # 154 bits
CHECKSUM_LENGTH = 6

_KEY = re.compile(r"(?:gak_|pk_)[0-9A-Za-z]{32}")


def make_key(prefix: str) -> str:
    """A new random key. prefix: SECRET_PREFIX or PUBLISHABLE_PREFIX; ValueError for any other."""
    if prefix not in (SECRET_PREFIX, PUBLISHABLE_PREFIX):
        raise ValueError("A key begins with gak_ or pk_.")
    body = prefix + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM_LENGTH))
    return body + _checksum(body)


def is_well_formed(key: str) -> bool:
    """Whether prefix, length, alphabet and checksum fit. Says nothing about whether any hub knows the key."""
    if not _KEY.fullmatch(key):
        return False
    body, checksum = key[:-CHECKSUM_LENGTH], key[-CHECKSUM_LENGTH:]
    # The checksum follows from the characters before it, so comparing it tells nothing that is secret.
    return _checksum(body) == checksum


def required_secret_key(api_key: str | None) -> str:
    """The key, if it may be sent at all: ReportError for none, for a `pk_` one and for a garbled one."""
    if not api_key:
        raise ReportError("Give a secret API key (it begins with gak_).", code="missing-api-key")
    if api_key.startswith(PUBLISHABLE_PREFIX):
        detail = "This is a publishable key (pk_), made for browsers. Give a secret one: it begins with gak_."
        raise ReportError(detail, code="publishable-key-refused")
    if not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        detail = "The API key holds white space or signs that no key has. Look for a line break at its end."
        raise ReportError(detail, code="invalid-api-key")
    return api_key


def _checksum(text: str) -> str:
    number = zlib.crc32(text.encode("ascii"))
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        number, digit = divmod(number, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits
