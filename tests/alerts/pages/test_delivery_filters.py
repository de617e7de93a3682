"""The filters of the log of deliveries show what the address says."""

import pytest
from django.contrib.auth import get_user_model

from workspaces.models import Membership

pytestmark = pytest.mark.django_db
LOG = "/w/lumen-books/production/deliveries"


@pytest.fixture
def admin(client, workspace):
    user = get_user_model().objects.create_user("admin")
    Membership.objects.create(workspace=workspace.workspace, user=user, role=Membership.ADMIN)
    client.force_login(user)
    return client


def test_a_target_that_is_gone_stays_chosen(admin):
    page = admin.get(f"{LOG}?target=999999").content.decode()
    assert '<option value="999999" selected>a deleted target</option>' in page
    assert "a deleted target" not in admin.get(LOG).content.decode()
    assert "a deleted target" not in admin.get(f"{LOG}?target=none").content.decode()
