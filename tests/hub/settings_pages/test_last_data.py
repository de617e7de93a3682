"""The page of environments says when the last data came, and whether reports could not be processed."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from catalog.models import WitnessReport
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.ingest.record import Report, record_outcomes
from tests.catalog.reports import observation, report
from tests.page_text import read_html

PAGE = "/w/lumen-books/production/environments"


def read_rows(client):
    rows = json.loads(client.get(f"{PAGE}.json").getvalue())["tables"]["lastData"]
    return {row.pop("environment"): row for row in rows}


def test_an_environment_without_data_says_so(browser_client, workspace):
    empty = {"witnessReportAt": None, "outcomeAt": None, "verificationAt": None, "deadLetters": 0}
    assert read_rows(browser_client) == {"production": empty, "staging": empty}
    page = read_html(browser_client.get(PAGE))
    assert page.count('<span class="soft">none</span>') == 6
    assert page.count("no report") == 2


@pytest.mark.parametrize("page", ["keys", "environments", "secrets"])
def test_the_pages_of_settings_need_no_more_queries_for_more_environments(browser_client, workspace, page):
    address = PAGE.replace("environments", page)
    counts = []
    for _ in range(2):
        browser_client.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert browser_client.get(address).status_code == 200
        counts.append(len(queries))
        for number in range(10):
            workspace.workspace.environments.get_or_create(name=f"env-{number}", defaults={"audience": f"urn:{number}"})
    assert counts[0] == counts[1]


def test_the_last_report_of_each_kind_and_dead_letters_are_listed(browser_client, workspace, api):
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    for hours in (50, 3):
        record_outcomes(production, [Report(f"conv_{hours}", "purchase")], now=now - timedelta(hours=hours))
    record_verifications(staging, [Verification("accepted", now - timedelta(hours=2))])
    record_verifications(staging, [Verification("expired", now - timedelta(hours=1))])
    for _ in range(2):
        assert api.post("/api/witness-reports", report(observation())).status_code == 202
    WitnessReport.objects.update(dead_lettered_at=now, fault="It cannot be folded.")
    page = read_html(browser_client.get(PAGE))
    assert ">3 h ago</time>" in page
    assert '/w/lumen-books/production/catalog#dead-letters"> 2 reports</a>' in page
    rows = read_rows(browser_client)
    assert rows["production"]["deadLetters"] == 2
    assert rows["production"]["witnessReportAt"]
    assert rows["production"]["outcomeAt"] == int((now - timedelta(hours=3)).timestamp())
    assert rows["production"]["verificationAt"] is None
    assert rows["staging"]["verificationAt"] == int((now - timedelta(hours=1)).timestamp())


def test_the_last_observation_stands_for_reports_that_are_no_longer_stored(browser_client, workspace, api):
    assert api.post("/api/witness-reports", report(observation())).status_code == 202
    fold_reports(workspace.workspace.environments.get(name="production"), now=timezone.now())
    WitnessReport.objects.all().delete()
    assert read_rows(browser_client)["production"]["witnessReportAt"]
    assert "no report" in read_html(browser_client.get(PAGE))
