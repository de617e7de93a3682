"""The limits of path templates, their errors, and their segments (pure).

The SDK has the same limits in `affidavit/_paths/template_limits.py`, and sends no template beyond them.
"""

from __future__ import annotations

import re

from affidavit import retemplate
from affidavit.operations import PARAMETER

MAX_PATH_BYTES = 2000  # a unique index holds the path, and PostgreSQL limits an index row to 2,700 bytes
MAX_SEGMENTS = 100
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
# What to do about each error of a template, by its code
PATH_ERRORS = {
    "start": "Begin the path with a slash; leave scheme and host out.",
    "query": "Leave query and fragment out of the path.",
    "bytes": f"Send a path of at most {MAX_PATH_BYTES} bytes.",
    "segments": f"Send a path of at most {MAX_SEGMENTS} segments.",
    "templated": f"Shorten the path: with parameters in place of values it has over {MAX_PATH_BYTES} bytes.",
    "control": "Percent-encode white space and control characters in the path.",
    "braces": "Close every brace; a parameter is {name}.",
    "name": "Name parameters with 1 to 100 letters, digits, _ . and -, beginning with a letter or _.",
    "clash": "Give each parameter of the path a different name.",
}


def find_path_errors(path: str) -> list[str]:
    """Return the codes of everything that is wrong with a template, in the order of PATH_ERRORS.

    The length is checked in bytes only if the path has at most MAX_PATH_BYTES characters: callers check the characters.
    """
    names, literal = PARAMETER.findall(path), PARAMETER.sub("", path)
    checks = {
        "start": not path.startswith("/"),
        "query": "?" in literal or "#" in literal,
        "bytes": len(path) <= MAX_PATH_BYTES < len(path.encode()),
        "segments": path.count("/") > MAX_SEGMENTS,
        "templated": len(path.encode()) <= MAX_PATH_BYTES < len(retemplate(path, {}).path.encode()),
        "control": any(character.isspace() or not character.isprintable() for character in path),
        "braces": bool(re.search(r"[{}]", literal)),
        "name": not all(_NAME.fullmatch(name) for name in names),
        "clash": len(set(names)) < len(names),
    }
    return [code for code, is_wrong in checks.items() if is_wrong]


def split_path(path: str) -> list[str]:
    """Return the segments of a path: `orders` and `{orderId}` for `/orders/{orderId}`.

    The indexes in the member `undecided` of an observation refer to them; the first segment is 0.
    """
    return path.split("/")[1:]
