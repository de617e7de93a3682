"""The keys of the sample: one for each of its programs, so that pages can say which program sent something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from examples.bookshop.keys import Keys, read_keys
from workspaces.keys.create import create_key
from workspaces.models import PREFIX_LENGTH, ApiKey, Workspace

# What the key of each program is called on pages, and what it may do, in the order of `Keys`.
PROGRAMS: Mapping[str, Sequence[str]] = {
    "assistant platform": ("platform", "confirm"),
    "shop backend": ("report",),
    "order sync job": ("report",),
}


class SampleKeys(NamedTuple):
    """The stored keys of the sample's programs."""

    platform: ApiKey
    shop: ApiKey
    order_sync: ApiKey


def replace_keys(workspace: Workspace, *, actor: str, now: datetime) -> dict[str, str]:
    """Replace the keys of a new workspace by one for each program, and one for browsers, all of them in the audit log.

    Return them by their names in the sample's file.
    """
    workspace.api_keys.all().delete()
    new_keys = [
        create_key(workspace, scopes, name=name, actor=actor, now=now).text for name, scopes in PROGRAMS.items()
    ]
    keys = Keys(*new_keys)
    browser = create_key(workspace, (), kind=ApiKey.PUBLISHABLE, name="browser", actor=actor, now=now).text
    return {
        "platformKey": keys.platform,
        "reportKey": keys.shop,
        "orderSyncKey": keys.order_sync,
        "publishableKey": browser,
    }


def find_keys(workspace_facts: Mapping[str, Any]) -> SampleKeys:
    """Return the stored keys of a workspace from the output of `create_workspace`, or from the sample's file."""
    # Every report asks for the environments; they are fetched once.
    rows = ApiKey.objects.filter(workspace_id=workspace_facts["workspaceId"])
    rows = rows.select_related("workspace").prefetch_related("workspace__environments")
    rows_by_prefix = {row.prefix: row for row in rows}
    return SampleKeys(*(rows_by_prefix[key[:PREFIX_LENGTH]] for key in read_keys(workspace_facts)))
