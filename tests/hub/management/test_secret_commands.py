"""`manage.py rotate_secret` and `manage.py revoke_secret`."""

import json

import pytest
from django.utils import timezone

from hub.local.startup_errors import StartupError
from tests.hub.management.test_key_commands import run
from workspaces.secrets.decrypt import load_newest_secret, load_valid_secrets

pytestmark = pytest.mark.django_db


def test_a_rotation_prints_the_new_secret_once(workspace):
    rotated = json.loads(run("rotate_secret", "lumen-books", "--json"))
    assert set(rotated) == {"secretId", "signingSecret", "signs", "previousVerifiesUntil"}
    assert rotated["secretId"] == rotated["signingSecret"][:8]
    assert load_newest_secret(workspace.workspace) == rotated["signingSecret"]


def test_a_prepared_secret_signs_only_after_the_second_step(workspace):
    prepared = json.loads(run("rotate_secret", "lumen-books", "--prepare", "--json"))
    assert prepared["signs"] is False
    assert load_newest_secret(workspace.workspace) == workspace.signing_secret
    activated = json.loads(run("rotate_secret", workspace.workspace.id, "--activate", "--json"))
    assert activated["secretId"] == prepared["secretId"]
    assert "signingSecret" not in activated
    assert load_newest_secret(workspace.workspace) == prepared["signingSecret"]


def test_the_readable_form_names_the_next_step(workspace):
    assert "--activate" in run("rotate_secret", "lumen-books", "--prepare")
    assert "signs from now on" in run("rotate_secret", "lumen-books", "--activate")


def test_a_secret_is_revoked(workspace):
    with pytest.raises(StartupError, match="Rotate first"):
        run("revoke_secret", workspace.signing_secret[:8])
    run("rotate_secret", "lumen-books")
    assert "is revoked" in run("revoke_secret", workspace.signing_secret[:8])
    assert workspace.signing_secret not in load_valid_secrets(workspace.workspace, now=timezone.now())
    with pytest.raises(StartupError, match="No secret is prepared"):
        run("rotate_secret", "lumen-books", "--activate")
