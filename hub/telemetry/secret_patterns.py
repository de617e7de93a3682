"""Cut keys, secrets and tokens out of text that is going to be logged."""

from __future__ import annotations

import re

CUT = "[cut]"
NAMES = (
    "authorization|proxy-authorization|cookie|set-cookie|x-service-api-key|x-service-intent|x-csrftoken|sessionid|"
    r"csrf\w*|pass(?:word|wd|phrase|code)\w*|secret\w*|token\w*|api[_-]?key"
)
# The first group of each pattern is kept; the rest of the match is cut.
PATTERNS = (
    re.compile(r"(gak_|pk_|gas_|whsec_|ey(?=[IJ]))[\w+/=.-]+"),  # keys, secrets, and JSON in base64, such as intents
    re.compile(
        r"(/(?:sign-in|invitations|shared|reset/key)/)[^\s/\"'?&]+", re.IGNORECASE
    ),  # links with a secret in the path
    re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)"),  # a password in an address
    # A value after its name, as in headers, queries, forms and the text of dictionaries
    re.compile(
        rf"(\b(?:{NAMES})\b\\?[\"']?\s*(?:[:=,]|%3D)\s*(?:b(?=[\"']))?\\?[\"']?)"
        r"(?:(?:Bearer|Basic|Token) +)?[^\s\"'&;,)\]}\\]+",
        re.IGNORECASE,
    ),
)
# Any long run of the characters that tokens consist of, such as session keys and hashes; but not ids of tasks, and not
# names of code, which are words in lower case.
LONG_RUN = re.compile(r"[\w-]{32,}", re.ASCII)
NAME_OF_CODE = re.compile(r"_*[a-z]{1,20}(?:[_-]+[a-z0-9]{1,20})+_*")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def cut_secrets(text: str) -> str:
    """Return the text with what may be a key, a secret or a token replaced by CUT."""
    for pattern in PATTERNS:
        text = pattern.sub(rf"\1{CUT}", text)
    return LONG_RUN.sub(_cut_long_run, text)


def _cut_long_run(match: re.Match[str]) -> str:
    text = match[0]
    return text if NAME_OF_CODE.fullmatch(text) or UUID.fullmatch(text) else CUT
