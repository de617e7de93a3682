"""Deletions that concern several domains. The audit log records each.

Each returns the number of deleted rows by table, except `request_workspace_deletion`. Rejections of a deleted user
stay, without their tool call id.

The log names a conversation or a user by a keyed hash, so that it does not keep the id that was to be deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction

from hub.sample import workspace as sample
from intents.gate import delete_user as users
from outcomes.ingest import delete_conversation as conversations
from wire import wake_worker
from wire.at_rest.keyed_hash import compute_hash
from wire.models import IdempotentAnswer
from wire.redelivery.idempotency import delete_answers, find_answers_about
from workspaces import tasks
from workspaces.audit.record import record_audit
from workspaces.models import Workspace
from workspaces.remove import hide_workspace, remove_workspace

HASH_DIGITS = 16


@transaction.atomic
def delete_conversation(
    workspace: Workspace, conversation_id: str, environment_names: Sequence[str] = (), *, actor: str, now: datetime
) -> Mapping[str, int]:
    """Delete a conversation id in these environments (in all if none is named), and take it out of all counts."""
    # A workspace may have a million kept answers, and all reports of outcomes wait from the deletion on until the end
    # of this transaction. So only the answers that were stored meanwhile are read after it.
    answer_ids = find_answers_about(workspace.pk, conversation_id)
    rows = conversations.delete_conversation(workspace, conversation_id, environment_names)
    answer_ids |= find_answers_about(workspace.pk, conversation_id, stored_since=now)
    rows = _delete_answers(answer_ids, rows)
    environments = ", ".join(environment_names) or "all"
    facts = {"conversation": hash_subject(workspace, conversation_id), "environments": environments, "rows": rows}
    record_audit(workspace.pk, "conversation deleted", facts, actor=actor, now=now)
    return rows


@transaction.atomic
def delete_user(workspace: Workspace, sub: str, *, actor: str, now: datetime) -> Mapping[str, int]:
    """Delete all that names an end user. Rejections stay as counts."""
    rows = users.delete_user(workspace, sub)
    rows = _delete_answers(find_answers_about(workspace.pk, sub), rows)
    facts = {"user": hash_subject(workspace, sub), "rows": rows}
    record_audit(workspace.pk, "user deleted", facts, actor=actor, now=now)
    return rows


def delete_workspace(workspace: Workspace, *, actor: str, now: datetime) -> Mapping[str, int]:
    """Delete a workspace, wait until that is done, and return the number of deleted rows by table."""
    _forget_sample(workspace)
    return remove_workspace(workspace, actor=actor, now=now)


def request_workspace_deletion(workspace: Workspace, *, actor: str, now: datetime) -> None:
    """Hide a workspace at once, and have the worker delete it."""
    _forget_sample(workspace)
    hide_workspace(workspace, actor=actor, now=now)
    wake_worker.send_after_commit(tasks.delete_workspace, workspace.pk)


def hash_subject(workspace: Workspace, subject: str) -> str:
    """Return the keyed hash that replaces an id in the audit log, to find the entries about a known id."""
    return compute_hash(workspace.pk, subject.encode()).hex()[:HASH_DIGITS]


def _delete_answers(answer_ids: Collection[int], rows: Mapping[str, int]) -> Mapping[str, int]:
    """Delete these kept answers; return the numbers of deleted rows by table with theirs."""
    answer_count = delete_answers(answer_ids)
    return {**rows, IdempotentAnswer._meta.db_table: answer_count} if answer_count else rows


def _forget_sample(workspace: Workspace) -> None:
    if sample.is_sample(workspace):
        sample.forget_keys()
