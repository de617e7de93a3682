"""Search for API keys, reasons of rejections, and annotations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import F, Q

from affidavit import REASONS
from hub.search.results import MAX_RESULTS, ResultGroup, SearchResult, mark_matches, mark_prefix
from workspaces.access import has_role
from workspaces.keys.prefix import MIN_PREFIX
from workspaces.models import Annotation, ApiKey, Environment, Membership

LEAST_OF_REASON = 3  # characters: shorter texts are in most reasons
WORKING_FIRST = F("revoked_at").desc(nulls_first=True)  # then the keys that were revoked last
MAX_ANNOTATIONS = 1_000  # the latest ones of the workspace are read; older ones are on their page


def search_reasons(text: str) -> ResultGroup:
    """Find reasons by a part of their slug or title. Each leads to its rejections."""
    words = text.lower().replace(" ", "-")
    reasons = [
        reason
        for reason in REASONS.values()
        if len(text) >= LEAST_OF_REASON and (words in reason.slug or text.lower() in reason.title.lower())
    ]
    results = [
        SearchResult("rejections", mark_matches(reason.slug, words), {"reason": reason.slug}, detail=reason.meaning)
        for reason in reasons[:MAX_RESULTS]
    ]
    return ResultGroup("Reasons", results, len(reasons) > MAX_RESULTS, "rejections")


def search_keys(environment: Environment, text: str, user: User | AnonymousUser) -> ResultGroup:
    """Find keys by a part of their name or by their first characters, for those who may open the page of keys."""
    if not has_role(user, environment.workspace, Membership.ADMIN):
        return ResultGroup("API keys", [])
    condition = Q(name__icontains=text)
    if len(text) >= MIN_PREFIX:
        condition |= Q(prefix__startswith=text)
    keys = environment.workspace.api_keys.filter(condition).order_by(WORKING_FIRST, "name", "id")[: MAX_RESULTS + 1]
    results = [_describe_key(key, text) for key in keys[:MAX_RESULTS]]
    return ResultGroup("API keys", results, len(keys) > MAX_RESULTS, "keys")


def _describe_key(key: ApiKey, text: str) -> SearchResult:
    detail = ", ".join([str(key), *key.scopes])
    tag = "revoked" if key.revoked_at else ""
    title = mark_matches(key.name, text) if key.name else mark_prefix(str(key), text)
    # Revoked keys are in a section that is closed unless the address opens it.
    members: dict[str, Any] = {"open": "revoked"} if key.revoked_at else {}
    return SearchResult("keys", title, members, detail=detail, tag=tag, fragment=f"key-{key.pk}")


def search_annotations(environment: Environment, text: str) -> ResultGroup:
    """Find annotations by a part of their text, the latest first. Each leads to its time, whatever the period."""
    # Compare here and not in SQL, so that PostgreSQL reads only the workspace's latest annotations, by their index.
    latest = Annotation.objects.filter(workspace_id=environment.workspace_id).order_by("-at", "-id")[:MAX_ANNOTATIONS]
    rows = [
        row
        for row in latest.values_list("pk", "at", "text", "environment_id", named=True)
        if row.environment_id in (None, environment.pk) and text.lower() in row.text.lower()
    ]
    results = [_describe_annotation(row.pk, row.at, row.text, text) for row in rows[:MAX_RESULTS]]
    return ResultGroup("Annotations", results, len(rows) > MAX_RESULTS, "annotations")


def _describe_annotation(annotation_id: UUID, moment: datetime, text: str, needle: str) -> SearchResult:
    """Link to the list from the day before until the minute after, so that the annotation is at its top."""
    utc = moment.astimezone(UTC)
    day_before, minute_after = utc.date() - timedelta(days=1), utc + timedelta(minutes=1)
    return SearchResult(
        "annotations",
        mark_matches(text, needle),
        {"from": day_before.isoformat(), "to": minute_after.isoformat(timespec="minutes")},
        detail=f"{utc:%a %-d %b %Y, %H:%M} UTC",
        fragment=f"annotation-{annotation_id}",
    )
