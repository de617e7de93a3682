"""The doctor sees a database that does not fit: migrations, rights, clock, keys, and tallies that do not add up."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from hub.doctor import database
from hub.doctor.database import (
    check_clock,
    check_database,
    check_keys,
    check_migrations,
    check_tallies,
    check_web_login,
    check_web_role,
)
from hub.doctor.result import Result
from hub.doctor.run_checks import Check, run_check, run_checks
from hub.local.database.web_role import grant_web_role
from hub.unfinished_restore import CREATE_MARK
from outcomes.models import Outcome, Tally
from workspaces.models import Environment
from workspaces.secrets.rotate import rotate_secret

pytestmark = pytest.mark.django_db
OUTCOMES = [{"conversationId": f"conv {n}", "outcomeKey": key} for n in range(3) for key in ("purchase", "renewal")]


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_the_check_of_the_database_names_the_version_of_the_server():
    assert check_database().detail.startswith("PostgreSQL 18.")


def test_missing_migrations_are_counted():
    assert check_migrations().state == "ok"
    execute("DELETE FROM django_migrations WHERE id = (SELECT max(id) FROM django_migrations WHERE app = 'outcomes')")
    assert check_migrations().detail == "Not applied yet: 1 migration."


def test_a_database_of_a_newer_version_is_wrong():
    execute("INSERT INTO django_migrations (app, name, applied) VALUES ('catalog', '9999_later', now())")
    result = run_check(Check("database", check_database))
    assert (result.state, "newer version" in result.detail) == ("wrong", True)


def test_data_that_were_moved_to_another_database_are_named(settings, tmp_path):
    settings.DATABASE_URL, settings.HUB_DATA_DIR = "", tmp_path
    (tmp_path / "postgres.moved").write_text("db.example.com:5432/affidavit")
    result = run_check(Check("database", check_database))
    assert (result.state, "Set DATABASE_URL to it" in result.detail) == ("wrong", True)


def test_a_restore_that_was_interrupted_is_named_with_its_cure():
    execute(CREATE_MARK)
    result = check_database()
    assert (result.state, result.detail) == ("wrong", "A restore into this database was interrupted.")
    assert "manage.py prepare" in result.cure


@pytest.mark.parametrize(
    "change",
    [
        "REVOKE INSERT ON outcomes_outcome FROM doctor_web",
        "GRANT UPDATE ON workspaces_auditentry TO doctor_web",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM doctor_web; REVOKE ALL ON ALL SEQUENCES IN SCHEMA public "
        "FROM doctor_web; REVOKE ALL ON SCHEMA public FROM doctor_web; DROP ROLE doctor_web",
    ],
)
def test_missing_and_excess_rights_of_the_web_role_are_found_with_the_cure(settings, change):
    settings.WEB_DATABASE = {"USER": "doctor_web"}
    execute("CREATE ROLE doctor_web")
    grant_web_role("doctor_web")
    assert check_web_role().state == "ok"
    execute(change)
    result = check_web_role()
    assert (result.state, "grant_web_role doctor_web" in result.cure) == ("wrong", True)


@pytest.mark.parametrize(
    ("changes", "state", "detail"),
    [
        ({}, "ok", "to this database"),
        ({"NAME": "postgres"}, "wrong", "names another database than DATABASE_URL"),
        ({"NAME": "nothing"}, "wrong", 'cannot sign in with WEB_DATABASE_URL: database "nothing" does not exist.'),
        ({"PASSWORD": "mistyped"}, "wrong", "cannot sign in with WEB_DATABASE_URL: password authentication failed"),
    ],
)
def test_a_web_server_that_cannot_reach_this_database_is_found(settings, changes, state, detail):
    settings.DATABASE_URL = "postgresql://u:p@h/x"
    settings.WEB_DATABASE = {"USER": connection.settings_dict["USER"], **changes}
    result = check_web_login()
    assert (result.state, detail in result.detail) == (state, True), result


def test_a_clock_that_is_an_hour_behind_is_wrong(monkeypatch):
    assert check_clock().state == "ok"
    now = database.time.time()
    monkeypatch.setattr(database.time, "time", lambda: now - 3600)
    assert (check_clock().state, "3,600 s" in check_clock().detail) == ("wrong", True)


def test_secrets_that_no_key_of_the_settings_decrypts_are_counted(settings, workspace, other_workspace):
    assert check_keys().state == "ok"
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another key, of another hub, which is long"
    result = check_keys()
    assert (result.state, result.detail[:22]) == ("wrong", "2 of 2 signing secrets")
    rotate_secret(other_workspace.workspace, actor="test", now=timezone.now() - timedelta(days=2))
    assert check_keys().detail[:22] == "1 of 2 signing secrets"  # the secret before the rotation verifies no more
    settings.SECRET_KEY_FALLBACKS = [earlier]
    assert check_keys().state == "ok"


def test_a_hub_without_outcomes_is_fine():
    assert check_tallies(1).state == "ok"


@pytest.mark.parametrize("broken", [False, True])
def test_a_tally_that_differs_from_its_rows_is_named_with_the_seed(api, broken):
    if not broken:
        conversations = [{"conversationId": f"conv {n}", "startedAt": 1767225600} for n in range(3)]
        assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200
    assert api.post("/api/conversation-outcomes", {"outcomes": OUTCOMES}).status_code == 200
    assert check_tallies(1).detail.startswith("2 keys of "), check_tallies(1)
    assert check_tallies(1).state == "ok"
    Tally.objects.filter(grain="d", outcome_key="renewal").update(outcomes=2, broken=2)
    result = check_tallies(1)
    assert (result.state, "(seed 1)" in result.detail, "renewal: " in result.detail) == ("wrong", True, True)


def test_a_tally_of_all_keys_that_differs_from_the_sum_of_each_key_is_found(api):
    api.post("/api/conversation-outcomes", {"outcomes": OUTCOMES})
    Tally.objects.filter(grain="d", outcome_key="").update(outcomes=7)
    assert "all keys: the tallies say 7 outcomes" in check_tallies(1).detail


def test_broken_joins_that_retention_deleted_are_no_fault(api):
    api.post("/api/conversation-outcomes", {"outcomes": OUTCOMES})
    Outcome.objects.filter(outcome_key="renewal").delete()
    assert check_tallies(1).state == "ok"


def test_equal_seeds_recount_the_same_day(workspace):
    environment = Environment.objects.get(workspace=workspace.workspace, name="production")
    numbers = {"outcomes": 0, "broken": 0, "reports": 0, "reached": 0, "conversations": 0}
    for day in range(1, 7):
        starts_at = datetime(2026, 1, day, tzinfo=UTC)
        Tally.objects.create(
            environment=environment, grain="d", outcome_key="", starts_at=starts_at, shard=0, **numbers
        )  # fmt: skip
    details = [check_tallies(seed).detail for seed in range(20)]
    days = {re.search(r"2026-01-0\d", detail)[0] for detail in details}
    assert len(days) > 3
    assert check_tallies(3).detail == details[3]


def test_a_negative_seed_recounts_a_day_too(api):
    api.post("/api/conversation-outcomes", {"outcomes": OUTCOMES})
    assert check_tallies(-5).state == "ok"


def test_checks_that_need_a_failed_check_are_skipped_and_a_refusal_of_the_database_is_a_result():
    def refuse() -> Result:
        execute("SELECT FROM no_such_table")
        raise AssertionError

    checks = [Check("first", refuse), Check("second", refuse, needs="first"), Check("third", refuse, needs="second")]
    states = [(name, result.state) for name, result in run_checks(checks)]
    assert states == [("first", "wrong"), ("second", "skipped"), ("third", "skipped")]
