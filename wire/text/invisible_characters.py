"""Show the characters that cannot be seen (pure)."""

from __future__ import annotations


def escape_invisible(text: str) -> str:
    """Write the characters that cannot be seen as codes, such as `\\u202e`, which turns the text after it around."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
