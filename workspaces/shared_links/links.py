"""Make, find and revoke links that show one page until they expire."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from wire.errors import InvalidRequest
from workspaces.audit.record import record_audit
from workspaces.link_tokens import hash_token, make_token
from workspaces.models import Environment, SharedLink, Workspace

DAYS = (1, 7, 30)  # for how many days a link may work
OPENED_EXACT_TO = timedelta(minutes=1)


@transaction.atomic
def share_page(
    environment: Environment, page: str, query: str, *, days: int, actor: str, now: datetime
) -> tuple[SharedLink, str]:
    """Return a new link to a page with this query, and the secret part of its address. Raises InvalidRequest."""
    if days not in DAYS:
        raise InvalidRequest(f"A link works for {', '.join(map(str, DAYS[:-1]))} or {DAYS[-1]} days.")
    if len(query) > SharedLink.MAX_QUERY:
        raise InvalidRequest("The address of this page is too long to be shared. Select fewer filters.")
    environment.hold()
    token = make_token()
    link = SharedLink.objects.create(
        workspace_id=environment.workspace_id,
        environment=environment,
        page=page,
        query=query,
        digest=hash_token(token),
        created_at=now,
        created_by=actor,
        expires_at=now + timedelta(days=days),
    )
    record_audit(link.workspace_id, "page shared", {**_list_link_facts(link), "days": days}, actor=actor, now=now)
    return link, token


@transaction.atomic
def revoke_link(workspace: Workspace, link_id: int, *, actor: str, now: datetime) -> None:
    """Revoke a link; a second time changes nothing."""
    open_links = list_links(workspace).filter(pk=link_id, revoked_at=None).select_for_update(of=("self",))
    link = open_links.first()
    if link is None:
        return
    SharedLink.objects.filter(pk=link.pk).update(revoked_at=now)
    record_audit(workspace.pk, "shared link revoked", _list_link_facts(link), actor=actor, now=now)


def list_links(workspace: Workspace) -> QuerySet[SharedLink]:
    """Return all links of a workspace, the latest first."""
    return SharedLink.objects.filter(workspace=workspace).select_related("environment").order_by("-id")


def find_link(token: str, *, now: datetime) -> SharedLink | None:
    """Return the link of a token and note that it was opened; None if the link does not work."""
    links = SharedLink.objects.filter(
        digest=hash_token(token), expires_at__gt=now, revoked_at=None, workspace__removed_at=None
    )
    link = links.select_related("environment__workspace").first()
    if link is not None:
        # On both sides of now: a time in the future was stored while the clock was ahead.
        is_exact = Q(last_opened_at__gt=now - OPENED_EXACT_TO, last_opened_at__lt=now + OPENED_EXACT_TO)
        SharedLink.objects.filter(pk=link.pk).exclude(is_exact).update(last_opened_at=now)
    return link


def _list_link_facts(link: SharedLink) -> dict[str, str]:
    return {"page": link.page, "environment": link.environment.name, "query": link.query}
