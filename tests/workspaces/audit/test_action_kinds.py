"""Each action of the audit log belongs to the kind in which a reader looks for it."""

import pytest
from django.utils import timezone

from workspaces.audit.action_kinds import select_kind
from workspaces.audit.record import record_audit
from workspaces.models import AuditEntry
from workspaces.people.account_audit import ACCOUNT_ACTIONS


@pytest.mark.django_db
@pytest.mark.parametrize("action", sorted(set(ACCOUNT_ACTIONS.values())))
def test_every_change_of_an_account_is_one_of_people_and_not_of_settings(action):
    record_audit(None, action, actor="ada", now=timezone.now())
    assert AuditEntry.objects.filter(select_kind("people"), action=action).exists()
    assert not AuditEntry.objects.filter(select_kind("settings"), action=action).exists()
