"""Check whether a request is the operation that was signed (contract §3, "Operation")."""

import re
from urllib.parse import unquote

from .args import is_percent_encoded
from .reasons import REASONS
from .verification_attempt import Attempt

# Two servers may read a path with one of these characters differently, so the routed path may not be the signed one.
_UNSAFE = re.compile(r"[?#\\\x00-\x1f\x7f-\x9f]")
_DOT_SEGMENTS = frozenset({".", ".."})
AMBIGUOUS = (
    "The path holds a question mark, a hash, a backslash, a control character, a dot segment, an escaped "
    "slash or a % that is no escape of UTF-8: two servers could read it differently."
)


def find_v1_mismatch(attempt: Attempt) -> str | None:
    """Return the reason if the request is not what a version 1 intent signed, else None. The method comes first."""
    if attempt.payload["method"] != attempt.method:
        return "method-mismatch"
    if _is_ambiguous(attempt):
        return attempt.fail("path-mismatch", AMBIGUOUS)
    return None if attempt.payload["path"] == attempt.path else "path-mismatch"


def find_v2_fault(attempt: Attempt) -> str | None:
    """Return how the request, or the operation that its view declares, differs from the signed operation, or None."""
    signed_operation = attempt.intent.operation
    if attempt.declared_operation is None and _is_ambiguous(attempt):
        return AMBIGUOUS
    bare = f"{attempt.method} {attempt.path}" if attempt.declared_operation is None else attempt.declared_operation
    with_query = attempt.declared_operation is None and attempt.query and signed_operation == f"{bare}?{attempt.query}"
    if signed_operation != bare and not with_query:
        return REASONS["operation-mismatch"].meaning
    if attempt.body and attempt.query and not signed_operation.endswith(f"?{attempt.query}"):
        return "The request has both a body and a query: the operation has to carry the exact query string."
    return None


def name_operation(attempt: Attempt) -> str:
    """Return the operation of the request, in the form in which its intent must name it."""
    operation = f"{attempt.method} {attempt.path}"
    if attempt.intent.version == 1:
        return operation
    if attempt.declared_operation is not None:
        return attempt.declared_operation
    signed_with_query = "?" in attempt.intent.operation
    return f"{operation}?{attempt.query}" if attempt.query and (attempt.body or signed_with_query) else operation


def _is_ambiguous(attempt: Attempt) -> bool:
    path, raw_path = attempt.path, attempt.raw_path
    if _UNSAFE.search(path) or ("." in path and not _DOT_SEGMENTS.isdisjoint(path.split("/"))):
        return True
    return raw_path is not None and "%" in raw_path and _has_unsafe_escape(raw_path)


def _has_unsafe_escape(raw_path: str) -> bool:
    """Return whether a path holds an escaped slash, or an escape that servers read in different ways."""
    if "%2f" in raw_path.lower() or not is_percent_encoded(raw_path):
        return True
    try:
        unquote(raw_path, errors="strict")
    except UnicodeDecodeError:
        return True
    return False
