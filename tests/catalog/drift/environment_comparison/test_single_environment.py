"""The page of the environment comparison in a workspace that has only one environment."""

from __future__ import annotations

import pytest
from django.utils import timezone

from workspaces.create import create_workspace

pytestmark = pytest.mark.django_db


def test_a_workspace_with_one_environment_leads_to_the_page_where_another_is_added(browser_client):
    slug = create_workspace("Tea House", actor="test", now=timezone.now()).workspace.slug
    page = browser_client.get(f"/w/{slug}/production/difference").content.decode()
    assert "Only one environment" in page
    assert f'<a href="/w/{slug}/production/environments">Environments</a>' in page
