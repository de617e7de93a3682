"""Write the subject of a mail (pure)."""

from __future__ import annotations

from email.header import Header


def build_subject(text: str) -> str:
    """Return a subject that mail programs show as this text.

    They would decode an encoded word of RFC 2047 (`=?utf-8?q?=41?=`) that is in the text, so such a text is encoded.
    """
    return Header(text, "utf-8", header_name="Subject").encode(linesep="") if "=?" in text else text
