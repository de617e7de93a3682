"""The hub works behind PgBouncer in transaction mode: each transaction may run on another connection to the server."""

from __future__ import annotations

import csv
import io
import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from hub.local.startup_errors import StartupError
from tests.hub.database.pooler import connect_through_pooler, running_pooler
from tests.hub.hub_process import running_hub
from tests.page_queries import find_query, list_page_names
from tests.sample_data import fill_workspace, observations
from tests.workspaces.people.mails import read_mails
from wire.table_exports import INCOMPLETE


@pytest.fixture
def _use_pooler(tmp_path: Path, transactional_db: None) -> Iterator[None]:
    """Send the statements of this process through PgBouncer."""
    with connect_through_pooler(tmp_path):
        yield


@pytest.mark.usefixtures("_use_pooler")
def test_every_page_and_download_works_behind_a_transaction_pooler(workspace, api, browser_client):
    address = fill_workspace(workspace, api)
    for name in list_page_names():
        query = find_query(name)
        assert browser_client.get(f"{address}/{name}", query).status_code == 200, name
        answer = browser_client.get(f"{address}/{name}.json", query)
        assert answer.status_code == 200, name
        for table, rows in json.loads(answer.getvalue())["tables"].items():
            text = browser_client.get(f"{address}/{name}.csv", {**query, "table": table}).getvalue().decode()
            assert INCOMPLETE not in text, (name, table)
            assert len(list(csv.reader(io.StringIO(text)))) == len(rows) + 1, (name, table)


@pytest.mark.usefixtures("_use_pooler")
@pytest.mark.parametrize("login", ["ada", "ada@example.com"])
def test_people_sign_in_behind_a_transaction_pooler(client, django_user_model, login):
    django_user_model.objects.create_user("ada", "ada@example.com", "correct horse")
    answer = client.post("/sign-in", {"login": login, "password": "correct horse"})
    assert answer.status_code == 302


@pytest.mark.usefixtures("_use_pooler")
def test_a_password_is_reset_behind_a_transaction_pooler(client, django_user_model):
    django_user_model.objects.create_user("ada", "ada@example.com", "correct horse")
    assert client.post("/account/password/reset", {"email": "ada@example.com"}).status_code == 302
    assert [mail.to for mail in read_mails()] == [["ada@example.com"]]


@pytest.mark.usefixtures("_use_pooler")
def test_commands_that_need_the_server_itself_refuse_a_pooler(tmp_path):
    with pytest.raises(StartupError, match="connection pooler"):
        call_command("backup", str(tmp_path / "affidavit.backup"))
    assert not (tmp_path / "affidavit.backup").exists()


@pytest.mark.xdist_group("whole hub, data")
def test_a_hub_works_behind_a_transaction_pooler_from_its_start_to_folding(tmp_path, django_db_blocker):
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE pooled")
    with running_pooler(tmp_path, connection.settings_dict) as port, running_hub(tmp_path / "hub") as hub:
        hub.settings = {"DATABASE_URL": f"postgresql://x:x@127.0.0.1:{port}/pooled", "SECRET_KEY": "k" * 40}
        hub.start()
        assert hub.request("/readyz")[0] == 200
        created = json.loads(hub.manage("create_workspace", "Lumen Books", "--full-key", "--json").stdout)
        report = {"reportId": str(uuid.uuid4()), "observations": observations()}
        assert hub.request("/api/witness-reports", report, key=created["secretKey"])[0] == 202
        deadline = time.monotonic() + 30
        while not hub.request("/api/catalog", key=created["secretKey"])[1]["operations"]:
            assert time.monotonic() < deadline, hub.output
            time.sleep(0.2)
        assert hub.stop() == 0
