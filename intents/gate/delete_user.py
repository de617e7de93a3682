"""Delete the minted intents and the confirmations that name an end user (`sub`)."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from intents.models import Confirmation, MintedIntent, Rejection
from workspaces.models import Workspace


def count_user(workspace: Workspace, sub: str) -> Mapping[str, int]:
    """Return how many rows name this user, by table."""
    counts = {
        model._meta.db_table: model._default_manager.filter(environment__workspace=workspace, sub=sub).count()
        for model in (MintedIntent, Confirmation)
    }
    return {table: count for table, count in counts.items() if count}


@transaction.atomic
def delete_user(workspace: Workspace, sub: str) -> Mapping[str, int]:
    """Delete the rows that name this user; return how many, by table.

    Rejections of the user's calls stay, but lose their tool call id.
    """
    for environment in workspace.environments.order_by("pk"):
        environment.hold()
    # Lock the confirmations first: wait for requests that are minting for one of them, and let no other begin.
    confirmations = Confirmation.objects.filter(environment__workspace=workspace, sub=sub)
    confirmation_ids = list(confirmations.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
    intents = MintedIntent.objects.filter(environment__workspace=workspace, sub=sub)
    tool_calls = set(intents.values_list("tool_call_id", flat=True))
    rejections = Rejection.objects.filter(environment__workspace=workspace, tool_call_id__in=tool_calls)
    rejections.update(tool_call_id="")
    counts = {
        MintedIntent._meta.db_table: intents.delete()[0],
        Confirmation._meta.db_table: Confirmation.objects.filter(pk__in=confirmation_ids).delete()[0],
    }
    return {table: count for table, count in counts.items() if count}
