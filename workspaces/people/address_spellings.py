"""The spellings of an e-mail address: its domain may be written in Unicode, or in ASCII by IDNA (pure)."""

from __future__ import annotations

from contextlib import suppress

import idna

MAX_ADDRESS = 254  # characters that are stored


def normalize_address(email: str) -> str:
    """Return the spelling that is stored: in lower case, the domain in ASCII.

    IDNA 2008 keeps domains apart that Django takes for one when it sends mail: `straße.example`, `strasse.example`.
    """
    email = email.strip().lower()
    mailbox, separator, domain = email.rpartition("@")
    if separator and not domain.isascii():
        with suppress(idna.IDNAError):
            spelling = f"{mailbox}@{idna.encode(domain, uts46=True).decode()}"
            return spelling if len(spelling) <= MAX_ADDRESS else email
    return email


def list_spellings(email: str) -> list[str]:
    """Return the spellings by which to look for an address, the given one first: Unicode was stored formerly."""
    spelling = normalize_address(email)
    mailbox, _, domain = spelling.rpartition("@")
    spellings = [email.strip().lower(), spelling]
    if "xn--" in domain:
        with suppress(idna.IDNAError):
            spellings.append(f"{mailbox}@{idna.decode(domain)}")
    return list(dict.fromkeys(spellings))
