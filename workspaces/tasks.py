"""The worker's tasks for all workspaces."""

from celery import shared_task
from django.utils import timezone

from workspaces.limits.database_buckets import prune_buckets
from workspaces.people.prune import delete_expired
from workspaces.remove import delete_hidden_workspace, list_hidden_workspaces
from workspaces.shared_links.prune import delete_expired_links


@shared_task
def delete_workspace(workspace_id: str) -> None:
    """Delete the rows of a hidden workspace."""
    delete_hidden_workspace(workspace_id, now=timezone.now())


def sweep() -> None:
    """Delete, in this process, the hidden workspaces whose task was lost or killed."""
    for workspace_id in list_hidden_workspaces():
        delete_workspace(workspace_id)


@shared_task
def prune_token_buckets() -> None:
    """Delete the rows of token buckets that are full again."""
    prune_buckets(now=timezone.now())


@shared_task
def prune_people() -> None:
    """Delete expired sessions, links and invitations."""
    now = timezone.now()
    delete_expired(now=now)
    delete_expired_links(now=now)
