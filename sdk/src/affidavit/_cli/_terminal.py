"""Make text from elsewhere safe to print."""


def escape_unprintable(text: str) -> str:
    """Escape control characters: what was signed or observed may hold anything."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
