"""The filters of verifications, read from a page's address (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from affidavit import REASONS
from intents.reports.verification import ACCEPTED
from wire.time.timestamps import read_moment

VERSIONS = {"1": 1, "2": 2}
OTHER_REASON = ""  # replaces a reason that the filter leaves out; the rejection still counts as a verification


@dataclass(frozen=True)
class RejectionFilters:
    """The filters of the rejections page. An empty string, or version 0, filters nothing.

    operation: a template, or a concrete path, which stands for its template.
    key_prefix: the first characters of the API key that reported. It narrows single rejections only, because tallies
        name no key.
    since: the moment from which on single rejections are listed; None lists those of the whole period. It narrows
        nothing else, because tallies are no finer than a quarter hour.
    """

    reason: str = ""
    version: int = 0
    operation: str = ""
    key_prefix: str = ""
    since: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self.reason or self.version or self.operation or self.key_prefix or self.since)


def parse_filters(query: Mapping[str, str]) -> RejectionFilters:
    """Read `reason`, `version`, `operation`, `by` and `since`; what is unknown or cannot be read filters nothing."""
    reason, version = query.get("reason", ""), query.get("version", "")
    # PostgreSQL refuses NUL. Neither NUL nor the character that replaces it here is in a stored text.
    operation = query.get("operation", "").replace("\0", "\ufffd")
    key_prefix = query.get("by", "").replace("\0", "\ufffd")
    known_reason = reason if reason in REASONS else ""
    since = read_moment(query, "since")
    return RejectionFilters(known_reason, VERSIONS.get(version, 0), operation, key_prefix, since)


def narrow_result(result: str, reason: str) -> str:
    """Return the result, or OTHER_REASON for a rejection with another reason than `reason`; "" filters nothing."""
    return result if not reason or result in (ACCEPTED, reason) else OTHER_REASON


def is_rejection(result: str) -> bool:
    """Return whether a narrowed result is a rejection that the filter shows."""
    return result not in (ACCEPTED, OTHER_REASON)
