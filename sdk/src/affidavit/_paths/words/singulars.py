"""The singular of English words, by simple rules."""

from __future__ import annotations

_IRREGULAR = {
    "aliases": "alias", "analyses": "analysis", "analytics": "analytics", "cookies": "cookie", "dns": "dns",
    "movies": "movie", "news": "news", "people": "person", "series": "series", "sms": "sms", "species": "species",
    "statuses": "status",
}  # fmt: skip


def singularize(word: str) -> str:
    """Return the singular by simple rules: `policies` -> `policy`, `boxes` -> `box`; `status` and `news` stay."""
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower] if word.islower() else _IRREGULAR[lower].capitalize()
    if lower.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if lower.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if lower.endswith("s") and not lower.endswith(("ss", "us", "is")) and len(word) > 2:
        return word[:-1]
    return word
