"""Show the characters that cannot be seen (pure)."""

from __future__ import annotations


def escape_invisible(text: str) -> str:
    """Write the characters that cannot be seen as codes, such as `\\u202e`, which turns the text after it around."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def spell_out(name: str) -> str:
    """Write a name so that names which differ look different: also spaces at its ends are codes, `\\x20` each."""
    inner = name.strip(" ")
    start = len(name) - len(name.lstrip(" ")) if inner else len(name)
    return "\\x20" * start + escape_invisible(inner) + "\\x20" * (len(name) - start - len(inner))
