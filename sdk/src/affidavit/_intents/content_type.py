"""Check that the Content-Type leaves no doubt about the arguments in a body (contract §3, "Arguments").

No intent signs the header. So whoever holds an intent may try one by which the app's framework reads other arguments
out of the body than were hashed.
"""

import re

_SURE = "application/json"
_OWS = " \t"
_UNSURE_TYPE = re.compile(r"[^\t\x20-\x7e]")
_BOUNDARY = re.compile(r"""boundary=("?)([0-9A-Za-z'()+_,./:=?-]{1,70})\1""", re.IGNORECASE)


def find_type_fault(body: bytes, content_type: str | None) -> str | None:
    """Return why frameworks may read the arguments in a body differently; None if they read them alike."""
    if not content_type or content_type == _SURE:
        return None
    media_type, *parameters = content_type.split(";")
    # Some frameworks strip characters such as U+00A0, or take the first of several headers.
    if _UNSURE_TYPE.search(content_type) or "," in media_type:
        return "The Content-Type names several types, or holds a character that frameworks read in different ways."
    if media_type.strip(_OWS).lower().startswith("multipart/") and not _begins_with_boundary(body, parameters):
        return (
            "The multipart body does not begin with the boundary in its Content-Type. No intent signs the header, and "
            "under another boundary the body would have other fields."
        )
    return None


def _begins_with_boundary(body: bytes, parameters: list[str]) -> bool:
    """Return whether the first line of a body is the only boundary, so that under no other one it has a field."""
    boundaries = [parameter.strip(_OWS) for parameter in parameters if "boundary" in parameter.lower()]
    match = _BOUNDARY.fullmatch(boundaries[0]) if len(boundaries) == 1 else None
    if match is None:
        return False
    delimiter = b"--" + match[2].encode("ascii")
    first_line, line_end, _ = body.partition(b"\n")
    if line_end and first_line.removesuffix(b"\r") == delimiter:
        return True
    return body.removesuffix(b"\r\n") == delimiter + b"--"
