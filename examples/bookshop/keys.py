"""The API keys of the programs. In the sample workspace each has its own, so that the hub can say who sent what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Keys(NamedTuple):
    """The keys of the assistant platform, of the shop's backend, and of its order sync job."""

    platform: str
    shop: str
    order_sync: str


def read_keys(workspace_facts: Mapping[str, Any]) -> Keys:
    """Return the keys from the output of `create_workspace --full-key --json`; raises KeyError.

    The platform needs a key that may decide confirmations. The `platformKey` of `create_workspace` may not decide them,
    so the `secretKey` is used. The hub's sample workspace has a `platformKey` that may decide confirmations. It also
    has an `orderSyncKey` for the order sync job.
    """
    platform = workspace_facts["platformKey"] if "orderSyncKey" in workspace_facts else workspace_facts["secretKey"]
    return Keys(
        platform, workspace_facts["reportKey"], workspace_facts.get("orderSyncKey", workspace_facts["reportKey"])
    )
