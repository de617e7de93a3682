"""The overview lists the rejections of the period by reason, beside those of the period before."""

import re
from datetime import timedelta

from django.utils import timezone

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.hub.overview.overview_page import read_export


def test_rejections_of_the_period_are_listed_by_reason(overview, api):
    report = {"reportId": "00000000-0000-4000-8000-000000000001", "verifications": [{"result": "expired", "count": 3}]}
    assert api.post("/api/verification-reports", report).status_code == 200
    page = overview()
    assert "expired" in page
    assert "Rejected calls" in page


def test_reasons_beyond_the_first_are_one_row_with_their_sum(overview, api):
    reasons = [
        "expired",
        "replayed",
        "bad-signature",
        "args-mismatch",
        "audience-mismatch",
        "missing-header",
        "malformed",
        "not-yet-valid",
        "tenant-mismatch",
        "operation-mismatch",
    ]
    counts = [{"result": reason, "count": 10 - number} for number, reason in enumerate(reasons)]
    report = {"reportId": "00000000-0000-4000-8000-000000000001", "verifications": counts}
    assert api.post("/api/verification-reports", report).status_code == 200
    page = overview()
    assert re.search(r'rejections">2 others</a> </th> <td class="num">3</td>', page)


def test_reasons_have_no_previous_count_if_no_call_was_verified_before(overview, browser_client, production):
    now = timezone.now()
    record_verifications(production, [Verification("expired", now, count=3)])
    cells = '<code>expired</code></a> </th> <td class="num">3</td> <td class="num soft">'
    page = overview()
    assert '<code>expired</code></a> </th> <td class="num">3</td> </tr>' in page  # no column full of dashes
    assert '<th scope="col" class="num">Before</th>' not in page
    assert read_export(browser_client, "reasons") == [{"reason": "expired", "rejections": 3, "rejectionsBefore": None}]
    record_verifications(production, [Verification("accepted", now - timedelta(days=8))])
    assert f"{cells}0</td>" in overview()
    assert read_export(browser_client, "reasons") == [{"reason": "expired", "rejections": 3, "rejectionsBefore": 0}]


def test_a_reason_that_stopped_is_listed_and_exported_with_its_previous_count(overview, browser_client, production):
    now = timezone.now()
    record_verifications(
        production, [Verification("expired", now), Verification("replayed", now - timedelta(days=8), count=2)]
    )
    cells = '<code>replayed</code></a> </th> <td class="num">0</td> <td class="num soft">2</td>'
    assert cells in overview()
    assert read_export(browser_client, "reasons") == [
        {"reason": "expired", "rejections": 1, "rejectionsBefore": 0},
        {"reason": "replayed", "rejections": 0, "rejectionsBefore": 2},
    ]


def test_reasons_that_only_the_period_before_has_are_one_row(overview, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    earlier = [Verification(reason, now - timedelta(days=7)) for reason in ("expired", "replayed", "replayed")]
    record_verifications(production, [*earlier, Verification("missing-header", now)])
    table = overview().partition("<h2>Rejections</h2>")[2].partition("</table>")[0]
    assert "missing-header" in table
    assert "expired" not in table
    assert '2 reasons only before</th> <td class="num">0</td> <td class="num soft">3</td>' in table
