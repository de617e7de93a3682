"""`manage.py create_key` and `manage.py revoke_key`."""

import io
import json

import pytest
from django.core.management import call_command

from hub.local.startup_errors import StartupError
from workspaces.keys.digest import hash_key
from workspaces.models import ApiKey, AuditEntry

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("by", ["slug", "id"])
def test_json_is_one_line_with_the_key(workspace, by):
    name = workspace.workspace.slug if by == "slug" else workspace.workspace.id
    output = run("create_key", name, "--scope", "report", "--environment", "staging", "--name", "ci",
                 "--expires", "2099-01-01", "--json")  # fmt: skip
    assert output.count("\n") == 1
    created = json.loads(output)
    assert set(created) == {"keyId", "secretKey", "scopes", "environments"}
    assert (created["keyId"], created["scopes"]) == (created["secretKey"][:12], ["report"])
    assert created["environments"] == ["staging"]
    row = ApiKey.objects.get(digest=hash_key(created["secretKey"]))
    assert (row.name, f"{row.expires_at:%Y-%m-%dT%H:%M%z}", row.created_by) == (
        "ci",
        "2099-01-01T00:00+0000",
        "command line",
    )


def test_the_readable_form_shows_the_key_once(workspace):
    output = run("create_key", "lumen-books", "--scope", "platform", "--scope", "confirm")
    assert output.count("gak_") == 1
    assert "Scopes: platform, confirm. Environments: production, staging, and those added later." in output
    restricted = run("create_key", "lumen-books", "--scope", "report", "--environment", "staging")
    assert "Environments: staging.\n" in restricted


def test_a_publishable_key_is_not_called_a_secret(workspace):
    output = run("create_key", "lumen-books", "--publishable")
    assert output.startswith("pk_")
    assert "secret" not in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere", "--scope", "report"), "lumen-books"),
        (("lumen-books",), "report, platform, confirm"),
        (("lumen-books", "--scope", "admin"), "report, platform, confirm"),
        (("lumen-books", "--scope", "report", "--environment", "qa"), "production, staging"),
        (("lumen-books", "--scope", "report", "--expires", "soon"), "2027-01-01"),
        (("lumen-books", "--scope", "report", "--expires", ""), "2027-01-01"),  # not a key that never expires
        (("lumen-books", "--scope", "report", "--expires", "2001-01-01T00:00Z"), "expired"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line_that_says_what_to_do(workspace, arguments, words):
    before = ApiKey.objects.count()
    with pytest.raises(StartupError, match=words) as caught:
        run("create_key", *arguments)
    assert "\n" not in str(caught.value)
    assert ApiKey.objects.count() == before


def test_a_revoked_key_is_refused_at_once(api, workspace):
    assert api.get("/api/catalog").status_code == 200
    assert "lumen-books is revoked" in run("revoke_key", workspace.full_key[:12])
    assert api.get("/api/catalog").status_code == 401
    assert AuditEntry.objects.get(action="key revoked").actor == "command line"
    assert "was revoked before" in run("revoke_key", workspace.full_key[:12])


def test_an_ambiguous_or_unknown_prefix_revokes_nothing(workspace):
    ApiKey.objects.filter(kind="secret").update(prefix="gak_SamePre1")
    with pytest.raises(StartupError, match="gak_SamePre1"):
        run("revoke_key", "gak_SamePre")
    with pytest.raises(StartupError, match="No key begins like this"):
        run("revoke_key", "gak_000000")
    assert not ApiKey.objects.exclude(revoked_at=None).exists()
