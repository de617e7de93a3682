"""The link of an annotation (pure)."""

from __future__ import annotations

from urllib.parse import urlsplit

SCHEMES = ("http", "https")
NOT_ALLOWED = ' \\<>"'
UNFIT_ADDRESS = (
    "Send an address that begins with https:// or http:// and names a host. It holds no space, no quotation mark and"
    " none of \\ < >."
)


def is_web_address(text: str) -> bool:
    """Return whether the text is an absolute http or https address: pages make links of no other text."""
    if not text.isprintable() or any(character in text for character in NOT_ALLOWED):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:  # a broken port, or half an IPv6 address
        return False
