"""`manage.py create_workspace`."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command

from hub.local import data_dir
from hub.local.startup_errors import StartupError
from tests.hub.hub_process import Hub, running_hub
from workspaces.keys.digest import hash_key
from workspaces.models import ApiKey, Workspace

pytestmark = pytest.mark.django_db


def run_command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("create_workspace", *arguments, stdout=out)
    return out.getvalue()


def test_json_is_one_line_with_all_keys_and_secrets():
    output = run_command("Tea House", "--environment", "staging", "--environment", "dev", "--json")
    assert output.endswith("}\n")
    assert output.count("\n") == 1
    created = json.loads(output)
    facts = {"workspaceId", "slug", "name", "environments", "audiences"}
    assert set(created) == facts | {"reportKey", "platformKey", "publishableKey", "signingSecret"}
    assert created["environments"] == ["production", "staging", "dev"]
    assert set(created["audiences"]) == set(created["environments"])
    for name, scopes in (("reportKey", ["report"]), ("platformKey", ["platform"])):
        key = ApiKey.objects.get(digest=hash_key(created[name]))
        assert (key.workspace_id, key.scopes) == (created["workspaceId"], scopes)


def test_a_full_key_has_every_scope_and_is_made_only_when_asked_for():
    created = json.loads(run_command("Tea House", "--full-key", "--json"))
    assert ApiKey.objects.get(digest=hash_key(created["secretKey"])).scopes == ["report", "platform", "confirm"]
    assert "key of all scopes gak_" in run_command("Other", "--full-key")


def test_the_readable_form_has_the_same_values():
    output = run_command("Tea House")
    workspace = Workspace.objects.get()
    page, audience = "/w/tea-house/production/overview", "urn:affidavit:tea-house:production"
    for part in (workspace.id, page, audience, "gak_", "pk_", "gas_"):
        assert part in output


def test_two_workspaces_of_one_name_get_two_slugs():
    slugs = [json.loads(run_command("Tea House", "--json"))["slug"] for _ in range(2)]
    assert slugs == ["tea-house", "tea-house-2"]


FIFTY_BESIDES_PRODUCTION = [f"--environment=e{number}" for number in range(50)]


@pytest.mark.parametrize(
    "arguments", [("",), ("x" * 101,), ("Shop", "--environment", "Not A Name"), ("Shop", *FIFTY_BESIDES_PRODUCTION)]
)
def test_an_invalid_workspace_is_refused_in_one_line_and_makes_nothing(arguments):
    with pytest.raises(StartupError) as caught:
        run_command(*arguments)
    assert "\n" not in str(caught.value)
    assert not Workspace.objects.exists()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with running_hub(tmp_path) as hub:
        yield hub


@pytest.mark.xdist_group("whole hub")
def test_a_key_made_before_the_first_start_works(hub):
    process = hub.manage("create_workspace", "Tea House", "--json")
    assert process.returncode == 0
    database = f"in {hub.folder}/var (HUB_DATA_DIR)"
    assert process.stderr == f"affidavit: this is the first workspace of a new database, {database}.\n"
    created = json.loads(process.stdout)
    assert hub.processes() == []
    hub.start()
    assert hub.request("/api/catalog", key=created["reportKey"])[0] == 200
    second_process = hub.manage("create_workspace", "Tea House", "--json")
    assert json.loads(second_process.stdout)["slug"] == "tea-house-2"
    assert second_process.stderr == ""
    assert hub.request("/readyz")[0] == 200


@pytest.mark.xdist_group("whole hub")
def test_a_refusal_is_one_line_like_that_of_a_start(hub):
    process = hub.manage("create_workspace", "")
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("affidavit: ")
    assert process.stderr.count("\n") == 1


@pytest.mark.xdist_group("whole hub")
def test_a_command_does_not_start_a_second_database_on_a_locked_data_directory(hub):
    with data_dir.lock_data_dir(hub.folder / "var"):
        process = hub.manage("create_workspace", "Tea House")
    assert process.returncode == 1
    assert "HUB_DATA_DIR" in process.stderr
    assert not (hub.folder / "var" / "postgres").exists()
