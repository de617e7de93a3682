"""The rate of rejections before and after each annotation, on the page and in its downloads."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from intents.rejections.filters import RejectionFilters
from intents.rejections.rejections_page import RejectionAnalysis
from intents.rejections.tallies.read_tallies import load_totals
from intents.rejections.tallies.totals import count_rejections, count_verifications
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.page_text import read_html
from wire.time.period import floor_to_quarter, parse_period
from workspaces.models import Annotation

NOW = timezone.now()
RELEASED = floor_to_quarter(NOW - timedelta(hours=3)) + timedelta(minutes=4)
BEFORE, AFTER = RELEASED - timedelta(hours=5), RELEASED + timedelta(minutes=30)


@pytest.fixture
def release(production):
    """Record calls before and after a release. `expired` keeps its rate; `POST /refunds` gets `audience-mismatch`."""
    record_verifications(
        production,
        [
            Verification("accepted", BEFORE, 2, "GET /orders", count=900),
            Verification("expired", BEFORE, 2, "GET /orders", count=10),
            Verification("accepted", BEFORE, 1, "POST /refunds", count=90),
            Verification("accepted", AFTER, 2, "GET /orders", count=450),
            Verification("expired", AFTER, 2, "GET /orders", count=5),
            Verification("accepted", AFTER, 1, "POST /refunds", count=25),
            Verification("audience-mismatch", AFTER, 1, "POST /refunds", count=20),
        ],
    )
    return Annotation.objects.create(
        workspace=production.workspace, environment=production, at=RELEASED, text="Release 5.0"
    )


def read_phases(response) -> list[dict]:
    return json.loads(response.getvalue())["tables"]["phases"]


def read_section(response) -> str:
    html = read_html(response)
    return html[html.index('id="phases"') :].partition("</section>")[0]


def test_page_and_downloads_say_whether_the_rate_changed_after_a_release(page, release):
    latest, earlier = read_phases(page(".json", range="24h"))
    assert (latest["annotations"], latest["verifications"], latest["rejections"]) == (["Release 5.0"], 500, 25)
    assert (earlier["annotations"], earlier["verifications"], earlier["rejections"]) == ([], 1000, 10)
    assert (latest["ratePoints"], latest["mayBeChance"]) == (4.0, False)
    assert (latest["grownReason"], latest["reasonPoints"]) == ("audience-mismatch", 4.0)
    assert latest["reasonMayBeChance"] is False
    compared = ("ratePoints", "mayBeChance", "grownReason", "reasonPoints", "reasonMayBeChance")
    assert {earlier[name] for name in compared} == {None}
    assert earlier["endsAt"] == floor_to_quarter(RELEASED).timestamp()
    assert latest["startsAt"] == earlier["endsAt"] + 15 * 60
    (line, _) = csv.DictReader(io.StringIO(page(".csv", table="phases", range="24h").getvalue().decode()))
    assert (line["annotations"], line["rejections"]) == ('["Release 5.0"]', "25")
    section = read_section(page(range="24h"))
    for text in ("Release 5.0", "5.0 %", "1.0 %", "+4.0", "audience-mismatch"):
        assert text in section
    assert "may be chance" not in section
    assert "too early to tell" not in section


@pytest.mark.parametrize(
    ("query", "after", "before", "reason"),
    [
        ({"reason": "expired"}, (500, 5), (1000, 10), None),
        ({"reason": "audience-mismatch"}, (500, 20), (1000, 0), "audience-mismatch"),
        ({"version": "1"}, (45, 20), (90, 0), "audience-mismatch"),
        ({"operation": "GET /orders"}, (455, 5), (910, 10), None),
        ({"operation": "POST /refunds", "version": "2"}, (0, 0), (0, 0), None),
    ],
)
def test_filters_narrow_the_phases_as_they_narrow_the_page(page, release, query, after, before, reason):
    latest, earlier = read_phases(page(".json", range="24h", **query))
    assert (latest["verifications"], latest["rejections"]) == after
    assert (earlier["verifications"], earlier["rejections"]) == before
    assert latest["grownReason"] == reason
    context = page(range="24h", **query).context
    assert (context["verifications"], context["rejected"]) == tuple(map(sum, zip(after, before, strict=True)))


def test_a_steady_rate_may_be_chance_and_names_no_reason(page, release):
    section = read_section(page(range="24h", operation="GET /orders"))
    assert "±0" in section
    record_verifications(release.environment, [Verification("expired", AFTER, 2, "GET /orders")])
    section = read_section(page(range="24h", operation="GET /orders"))
    assert '+0.2 <br><span class="soft">may be chance</span>' in section
    assert "expired" not in section


def test_a_reason_that_grew_most_of_many_may_be_chance(page, release):
    moment = RELEASED + timedelta(hours=1)
    reasons = {"replayed": 7, "malformed": 6, "bad-signature": 6, "not-yet-valid": 6}
    record_verifications(release.environment, [Verification("accepted", moment, 2, "GET /books", count=400)])
    record_verifications(
        release.environment,
        [Verification(reason, moment, 2, "GET /books", count=count) for reason, count in reasons.items()],
    )
    before = Verification("accepted", BEFORE - timedelta(hours=1), 2, "GET /books", count=1000)
    record_verifications(release.environment, [before])
    section = read_section(page(range="24h", operation="GET /books")).partition("</tbody>")[0]
    words = re.sub("<[^>]*>", "", section)
    assert "replayed +1.6 may be chance" in words
    assert section.count("may be chance") == 1  # the rise of all reasons together is no chance


def test_a_chosen_reason_names_the_column_and_needs_no_other(page, release):
    section = read_section(page(range="24h", reason="expired"))
    assert '<th scope="col" class="num">expired</th>' in section
    assert "rejected as expired" in section
    assert "grew most" not in section


@pytest.mark.parametrize("range_", ["24h", "7d", "90d", "12m", "all"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
def test_phases_add_up_to_the_period(production, release, range_, zone):
    for days in (0.5, 3, 40, 41, 200, 500):
        moment = NOW - timedelta(days=days)
        record_verifications(production, [Verification("expired", moment, 2, "GET /orders", count=3)])
        Annotation.objects.create(
            workspace=production.workspace, at=floor_to_quarter(moment + timedelta(hours=1)), text=f"{days}"
        )
    period = parse_period({"range": range_, "tz": zone}, now=timezone.now())
    for filters in (RejectionFilters(), RejectionFilters(version=2), RejectionFilters(operation="GET /orders")):
        phases = [change.phase for change in RejectionAnalysis(production, period, filters).phases]
        totals = load_totals(production, period, filters)
        assert sum(phase.total for phase in phases) == count_verifications(totals)
        assert sum(phase.count for phase in phases) == count_rejections(totals)


def test_the_quarter_hour_of_a_release_counts_neither_before_nor_after_it(page, production, release):
    """A call in that quarter hour may have come before or after the release, so it belongs to neither phase."""
    record_verifications(production, [Verification("expired", RELEASED - timedelta(minutes=1), 2, count=100)])
    latest, earlier = read_phases(page(".json", range="24h"))
    assert (latest["rejections"], earlier["rejections"]) == (25, 10)


def test_without_annotations_there_are_no_phases(page, release):
    release.delete()
    response = page(range="24h")
    assert not response.context["phases"]
    assert 'id="phases"' not in response.content.decode()
    assert read_phases(page(".json", range="24h")) == []


def test_annotations_of_another_environment_and_workspace_begin_no_phase(page, release, workspace, other_workspace):
    staging = workspace.workspace.environments.get(name="staging")
    Annotation.objects.create(workspace=workspace.workspace, environment=staging, at=RELEASED, text="Staging only")
    Annotation.objects.create(workspace=other_workspace.workspace, at=RELEASED, text="Another workspace")
    assert [row["annotations"] for row in read_phases(page(".json", range="24h"))] == [["Release 5.0"], []]
    stranger = Client(headers={"x-service-api-key": other_workspace.full_key})
    assert stranger.get(f"/w/{workspace.workspace.slug}/production/rejections.json").status_code == 404
