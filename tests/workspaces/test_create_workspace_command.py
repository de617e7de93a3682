"""`manage.py create_workspace`."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from workspaces.create import key_digest
from workspaces.models import ApiKey, Workspace

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_workspace", *arguments, stdout=out)
    return out.getvalue()


def test_json_is_one_line_with_everything_that_is_shown_once():
    output = said("Tea House", "--environment", "staging", "--environment", "dev", "--json")
    assert output.endswith("}\n")
    assert output.count("\n") == 1
    made = json.loads(output)
    facts = {"workspaceId", "slug", "name", "environments", "audiences"}
    assert set(made) == facts | {"secretKey", "publishableKey", "signingSecret"}
    assert made["environments"] == ["production", "staging", "dev"]
    assert set(made["audiences"]) == set(made["environments"])
    assert ApiKey.objects.get(digest=key_digest(made["secretKey"])).workspace_id == made["workspaceId"]


def test_the_readable_form_says_the_same():
    output = said("Tea House")
    workspace = Workspace.objects.get()
    page, audience = "/w/tea-house/production/overview", "urn:affidavit:tea-house:production"
    for part in (workspace.id, page, audience, "gak_", "pk_", "gas_"):
        assert part in output


def test_two_workspaces_of_one_name_get_two_slugs():
    slugs = [json.loads(said("Tea House", "--json"))["slug"] for _ in range(2)]
    assert slugs == ["tea-house", "tea-house-2"]


@pytest.mark.parametrize("arguments", [("",), ("x" * 101,), ("Shop", "--environment", "Not A Name")])
def test_what_cannot_be_made_is_one_line_and_makes_nothing(arguments):
    with pytest.raises(CommandError) as refusal:
        said(*arguments)
    assert "\n" not in str(refusal.value)
    assert refusal.value.returncode == 1
    assert not Workspace.objects.exists()
