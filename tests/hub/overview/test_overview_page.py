"""The overview: five steps before the first data, then numbers, and open decisions."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Drift
from hub.overview.facts import Fact
from hub.retention.prune import prune_all
from intents.models import Rejection
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.catalog.reports import deliver, observation
from tests.sample_data import fill_workspace
from wire.time.period import parse_period
from workspaces.models import Annotation, RetentionPolicy, SampleWorkspace
from workspaces.templatetags.numbers import SMALLEST_POINTS

PAGE = "/w/lumen-books/production/overview"
STEPS = ["Create a workspace", "Observe an API", "Report an outcome", "Verify an intent", "Confirm a call"]
REQUEST = {"sub": "user-1", "operation": "POST /refunds", "args": {"orderId": 1}, "summary": "Refund order 1"}


def list_ticked_steps(page: str) -> list[str]:
    steps = re.findall(r'<li>\s*<span class="x [^>]*aria-label="(done|to do)">.*?<b>([^<]+)</b>', page, re.S)
    assert [title for _, title in steps] == STEPS
    return [title for state, title in steps if state == "done"]


def tidy(page: str) -> str:
    return " ".join(page.split())


def report_outcomes(api, *ids):
    outcomes = [{"conversationId": id_, "outcomeKey": "purchase"} for id_ in ids]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200


def break_orders(api, created):
    """Change the type of one property."""
    deliver(api, created, observation(response={"total": 1}))
    deliver(api, created, observation(response={"total": "1"}))


@pytest.fixture
def overview(browser_client, workspace):
    return lambda query="": browser_client.get(PAGE + query).content.decode()


def test_without_data_the_overview_shows_the_five_steps_and_no_chart(overview):
    page = overview()
    assert list_ticked_steps(page) == ["Create a workspace"]
    assert "data-figure" not in page
    assert 'href="/w/lumen-books/production/outcomes"' in page
    assert "<h1>Production</h1>" in page
    assert "/api/witness-reports" in page.partition("Observe an API")[2].partition("Report an outcome")[0]


def test_a_step_is_ticked_off_when_its_data_arrive(overview, api):
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    report_outcomes(api, "conv_1")
    page = overview()
    assert list_ticked_steps(page) == ["Create a workspace", "Report an outcome"]
    assert "data-figure" in page
    assert "Still to set up" in page


def test_the_step_confirm_a_call_is_done_after_the_decision_and_not_the_request(overview, api):
    confirmation = api.post("/api/confirmations", REQUEST).json()["confirmationId"]
    assert "Confirm a call" not in list_ticked_steps(overview())
    assert api.post(f"/api/confirmations/{confirmation}/decision", {"decision": "confirm"}).status_code == 200
    assert "Confirm a call" in list_ticked_steps(overview())


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Production, last 7 days"),
        ("?range=24h", "Production, last 24 hours"),
        ("?range=12m", "Production, last 12 months"),
        ("?range=all", "Production, all time"),
        ("?from=2026-01-05&to=2026-01-06", "Production, 5 Jan – 6 Jan 2026"),
    ],
)
def test_the_heading_names_the_days_that_are_shown(overview, api, query, words):
    report_outcomes(api, "conv_1")
    assert f"<h1>{words}" in " ".join(overview(query).split())


def test_the_heading_names_the_environment_as_the_menu_does(overview, workspace):
    environment = workspace.workspace.environments.get(name="production")
    environment.label = "live shop"
    environment.save()
    page = overview()
    assert "<h1>Live shop</h1>" in page
    assert '<b class="cut">live shop</b>' in page


def test_open_decisions_are_counted_next_to_their_section_on_every_page(overview, browser_client, api):
    assert "n waits" not in overview()
    confirmation_id = api.post("/api/confirmations", REQUEST).json()["confirmationId"]
    waiting = re.compile(r'<span class="n waits" title="waiting">\s*1<')
    assert waiting.search(overview())
    assert waiting.search(browser_client.get("/w/lumen-books/production/catalog").content.decode())
    assert "n waits" not in browser_client.get("/w/lumen-books/staging/overview").content.decode()
    browser_client.post(f"/w/lumen-books/production/confirmations/{confirmation_id}/decision", {"decision": "decline"})
    assert "n waits" not in overview()


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
    page = " ".join(overview().split())
    assert re.search(r'rejections">2 others</a> </th> <td class="num">3</td>', page)


def read_export(client, table):
    return json.loads(client.get(f"{PAGE}.json").getvalue())["tables"][table]


def test_previous_numbers_are_exported_only_if_there_were_data_before(browser_client, api, workspace):
    production = workspace.workspace.environments.get(name="production")
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    record_verifications(production, [Verification("expired", timezone.now())])
    facts = read_export(browser_client, "facts")
    assert {(fact["before"], fact["beforeOf"]) for fact in facts} == {(None, None)}
    add_data_of_last_year(workspace, api)
    facts = {fact["fact"]: (fact["before"], fact["beforeOf"]) for fact in read_export(browser_client, "facts")}
    assert facts == {
        "conversations": (0, None), "outcomes": (0, None), "brokenJoins": (0, 0), "rejections": (0, 0),
        "operations": (None, None),
    }  # fmt: skip


def test_reasons_have_no_previous_count_if_no_call_was_verified_before(overview, browser_client, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    record_verifications(production, [Verification("expired", now, count=3)])
    cells = '<code>expired</code></a> </th> <td class="num">3</td> <td class="num soft">'
    page = tidy(overview())
    assert '<code>expired</code></a> </th> <td class="num">3</td> </tr>' in page  # no column full of dashes
    assert '<th scope="col" class="num">Before</th>' not in page
    assert read_export(browser_client, "reasons") == [{"reason": "expired", "rejections": 3, "rejectionsBefore": None}]
    record_verifications(production, [Verification("accepted", now - timedelta(days=8))])
    assert f"{cells}0</td>" in tidy(overview())
    assert read_export(browser_client, "reasons") == [{"reason": "expired", "rejections": 3, "rejectionsBefore": 0}]


def test_a_reason_that_stopped_is_listed_and_exported_with_its_previous_count(overview, browser_client, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    record_verifications(
        production, [Verification("expired", now), Verification("replayed", now - timedelta(days=8), count=2)]
    )
    cells = '<code>replayed</code></a> </th> <td class="num">0</td> <td class="num soft">2</td>'
    assert cells in tidy(overview())
    assert read_export(browser_client, "reasons") == [
        {"reason": "expired", "rejections": 1, "rejectionsBefore": 0},
        {"reason": "replayed", "rejections": 0, "rejectionsBefore": 2},
    ]


def test_the_latest_drift_says_in_how_many_observations_a_change_was_seen(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    Drift.objects.filter(pk=change.pk).update(seen=3, of=21)
    assert "3 of 21" not in tidy(overview())  # these count the presence of the field, not the new type
    for seen, of, words in ((3, 21, "in 3 of 21 answers"), (1, None, "1 time"), (2, None, "2 times")):
        Drift.objects.filter(pk=change.pk).update(kind="new", seen=seen, of=of, matching=None)
        assert f'<span class="nowrap">{words}</span> when detected' in tidy(overview())


def test_the_counts_next_to_sections_equal_those_of_their_pages(overview, browser_client, api, workspace):
    fill_workspace(workspace, api)
    break_orders(api, workspace)
    joins = browser_client.get("/w/lumen-books/production/joins").context["totals"].broken
    assert joins > 0
    assert re.search(rf'title="unresolved in this period">\s*{joins}<', overview())
    drift = browser_client.get("/w/lumen-books/production/drift?new=1").context["broken_fields"]
    assert re.search(rf'title="fields broken and not acknowledged, in this period">\s*{drift}<', overview())
    assert drift == 1
    assert "unresolved in this period" not in overview("?from=2026-01-05&to=2026-01-06")


@pytest.mark.parametrize("range_", ["", "?range=all", "?range=24h"])
def test_pages_without_a_period_count_the_last_7_days_next_to_sections_and_say_so(browser_client, workspace, range_):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    record_outcomes(production, [Report("a", "purchase"), Report("b", "purchase")], now=now - timedelta(days=2))
    record_outcomes(production, [Report("c", "purchase")], now=now - timedelta(days=20))
    for page in ("retention", "inspector", "keys"):
        html = browser_client.get(f"/w/lumen-books/production/{page}{range_}").content.decode()
        assert re.search(r'title="unresolved in the last 7 days">\s*2<', html), page


def test_the_cause_of_broken_joins_has_its_count_key_start_and_a_link(overview, api, workspace):
    staging = {"environment": "staging", "conversations": [{"conversationId": f"s{n}"} for n in range(3)]}
    assert api.post("/api/conversations", staging).status_code == 200
    report_outcomes(api, "s0", "s1", "s2", "unknown")
    page = " ".join(overview("?tz=Asia/Kathmandu").split())
    assert "3 of 4 are of conversations of <b>staging</b>, reported to production" in page
    match = re.search(r'by key <a href="([^"]+)"><b>([^<]+)</b> <code>(\w+)…</code></a> </span> in this period', page)
    assert "/keys" in match[1]
    key = workspace.workspace.api_keys.get(name=match[2])
    assert key.prefix == match[3] == api.key[: len(match[3])]
    assert "/joins?tz=Asia%2FKathmandu&amp;why=other-environment&amp;in=staging" in page
    assert "No cause has more than half" not in page


def test_the_link_to_the_main_cause_offers_a_move_only_to_those_who_may(overview, api, client, workspace):
    staging = {"environment": "staging", "conversations": [{"conversationId": f"s{n}"} for n in range(2)]}
    assert api.post("/api/conversations", staging).status_code == 200
    viewer = get_user_model().objects.create_user("vera")
    workspace.workspace.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    for id_, them in (("s0", "it"), ("s1", "them")):
        report_outcomes(api, id_)
        assert f"See {them} and move {them} </a>" in tidy(overview())
        page = tidy(client.get(PAGE).content.decode())
        assert f"See {them} </a>" in page
        assert "and move" not in page


def test_unresolved_joins_are_said_also_if_no_cause_prevails(overview, api, workspace):
    staging = {"environment": "staging", "conversations": [{"conversationId": "s0"}]}
    assert api.post("/api/conversations", staging).status_code == 200
    report_outcomes(api, "s0", "unknown")
    page = tidy(overview("?range=24h"))
    assert "<b>2 broken joins are unresolved.</b> No cause has more than half of them." in page
    assert "No broken joins" not in page


def test_the_sentence_on_causes_is_about_the_joins_that_retention_keeps(overview, api, workspace):
    production = workspace.workspace.environments.get(name="production")
    old = [Report("undefined", f"key-{number}") for number in range(3)]
    record_outcomes(production, old, now=timezone.now() - timedelta(days=3))
    assert "No cause has more than half" not in overview()
    RetentionPolicy.objects.create(workspace=workspace.workspace, broken_joins=2)
    prune_all(now=timezone.now())
    page = tidy(overview())
    assert "<b>3 broken joins are unresolved.</b> Single ones are kept for 2 days: no cause has more than half" in page
    report_outcomes(api, "undefined", "null")
    page = tidy(overview())
    assert "<b> Most broken joins have one cause. </b> 2 of the newest 2 have a placeholder" in page  # of 5


def test_broken_fields_are_listed_with_their_operation_and_link_to_the_feed(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    page = tidy(overview())
    assert "1 field broke</b> in 1 operation:" in page
    assert re.search(rf'<a href="[^"]*/change\?id={change.pk}"><code class="path">GET /orders/<wbr>{{orderId}}<', page)
    assert "</a>, detected <time" in page
    assert '<b class="bad">1 field broke</b>' in page  # as serious as a rise of rejections
    assert "/drift?breaking=1&amp;new=1" in page
    Drift.objects.update(acknowledged_at=timezone.now())
    assert "no breaking change to acknowledge" in overview()


def test_a_field_that_broke_twice_counts_once_everywhere(overview, browser_client, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    for kind, pointer in (
        ("optional", change.pointer),
        ("quiet", change.pointer),
        ("quiet", "/a"),
        ("quiet", "/b"),
        ("quiet", "/c"),
    ):
        change.pk, change.kind, change.pointer = None, kind, pointer
        change.save()
    page = tidy(overview())
    assert "4 fields broke</b> in 1 operation:" in page
    named = re.findall(
        r"<code>(/\w+)</code></a>", page.partition("fields broke</b>")[2].partition("See what changed")[0]
    )
    assert named == ["/c", "/b", "/a"]
    assert "and 1 more, the first detected" in page
    assert re.search(r'title="fields broken and not acknowledged, in this period">\s*4<', page)
    feed = tidy(browser_client.get("/w/lumen-books/production/drift").content.decode())
    assert re.search(r"6 in this period, \d breaking: 4 fields broken, 4 of them not acknowledged", feed)


def test_fields_that_broke_earlier_do_not_date_those_that_broke_last(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    released = change.at - timedelta(minutes=5)
    Annotation.objects.create(workspace=workspace.workspace, at=released, text="Release 5.0", created_at=released)
    change.pk, change.pointer, change.at = None, "/old", change.at - timedelta(hours=3)
    change.save()
    page = tidy(overview())
    assert "2 fields broke</b> in 1 operation:" in page
    sentence = page.partition("fields broke</b>")[2].partition("See what changed")[0]
    recent, _, earlier = sentence.partition("); ")
    assert "/old" not in recent
    assert re.search(r"detected after Release 5.0 \(<time[^>]*>[^<]*</time>$", recent)
    assert re.search(r"<code>/old</code></a>, <time[^>]*>[^<]*</time>[.]", earlier)


def test_broken_fields_name_annotations_shortly_before(overview, api, workspace):
    break_orders(api, workspace)
    detected_at = Drift.objects.get(kind="type").at
    for hours, text in ((3, "Release 4.9"), (0.5, "Release 5.0"), (-0.5, "Release 5.1")):
        at = detected_at - timedelta(hours=hours)
        Annotation.objects.create(workspace=workspace.workspace, at=at, text=text, created_at=at)
    assert "</a>, detected after Release 5.0 (<time" in tidy(overview())


def test_a_rise_of_rejections_is_shown_with_its_reason_and_operation(overview, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()

    def record(result, count, days_ago, operation=""):
        occurred_at = now - timedelta(days=days_ago)
        record_verifications(production, [Verification(result, occurred_at, count=count, operation=operation)])

    record("accepted", 990, 8)
    record("expired", 10, 8)
    assert "More calls are rejected" not in overview()
    record("accepted", 900, 1)
    record("expired", 40, 1, "POST /refunds")
    page = " ".join(overview().split())
    assert re.search(
        "4.3 % of them, 1.0 % in the 7 days before(, to the same hour)?[.] 40 of 40 are <code>expired</code>", page
    )
    assert "/rejections?reason=expired&amp;operation=POST+%2Frefunds" in page


def test_a_rise_does_not_begin_at_the_edge_of_an_hour(overview, workspace):
    """If the hour is known, the first rejection in it is the beginning. If only the day is known, no time is shown."""
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=3) + timedelta(minutes=34, seconds=37)
    for result, count, moment in (
        ("accepted", 990, first - timedelta(days=7)),
        ("expired", 2, first - timedelta(days=7)),
        ("expired", 20, first),
        ("expired", 40, first + timedelta(minutes=5)),
        ("accepted", 900, first + timedelta(minutes=10)),
    ):
        record_verifications(production, [Verification(result, moment, count=count)])
    started = tidy(overview("?range=24h")).partition("The rise began ")[2]
    assert f"{first:%a %-d %b, %H:%M}</time>: 60 of 60 since then." in started
    assert tidy(overview()).partition("The rise began ")[2].startswith(f"{first:%a %-d %b}:")
    Rejection.objects.all().delete()  # as after their retention: only the day is shown
    assert tidy(overview("?range=24h")).partition("The rise began ")[2].startswith(f"{first:%a %-d %b}:")


def test_reasons_that_only_the_period_before_has_are_one_row(overview, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    earlier = [Verification(reason, now - timedelta(days=7)) for reason in ("expired", "replayed", "replayed")]
    record_verifications(production, [*earlier, Verification("missing-header", now)])
    table = tidy(overview()).partition("<h2>Rejections</h2>")[2].partition("</table>")[0]
    assert "missing-header" in table
    assert "expired" not in table
    assert '2 reasons only before</th> <td class="num">0</td> <td class="num soft">3</td>' in table


def test_a_rise_that_was_over_does_not_date_the_present_one(overview, workspace):
    """Days with few rejections followed an early day with many, so the present rise did not begin on that early day."""
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    for result, count, days_ago in (
        *(("accepted", 990, 9), ("expired", 10, 9), ("accepted", 400, 6), ("expired", 14, 6)),
        *(("accepted", 400, 4), ("expired", 1, 4), ("accepted", 400, 1), ("expired", 60, 1)),
    ):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])
    since = f"The rise began {now - timedelta(days=1):%a %-d %b}:"
    assert since in tidy(overview())


def test_a_rise_that_may_be_chance_is_not_shown(overview, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    for result, count, days_ago in (("accepted", 367, 8), ("expired", 3, 8), ("accepted", 546, 1), ("expired", 12, 1)):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])
    assert "More calls are rejected" not in overview()


def test_one_broken_join_and_joins_of_one_cause_are_not_called_most(overview, workspace):
    """The words "Most broken joins" are for a cause with more than half of several joins, but not all."""
    production = workspace.workspace.environments.get(name="production")
    record_outcomes(production, [Report("a", "purchase")], now=timezone.now())
    assert "1 broken join. </b> It is of a conversation that was never registered" in tidy(overview())
    record_outcomes(production, [Report("b", "purchase")], now=timezone.now())
    page = tidy(overview())
    assert "All 2 broken joins have one cause. </b> They are of conversations that were never registered" in page


def test_a_rise_without_a_reason_that_explains_it_is_shown_without_one(overview, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()

    def record(result, count, days_ago):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])

    record("accepted", 190, 8)
    record("expired", 10, 8)
    record("accepted", 160, 1)
    record("expired", 16, 1)
    for reason in ("replayed", "malformed", "bad-signature", "args-mismatch"):
        record(reason, 6, 1)
    page = tidy(overview())
    before = "20.0 % of them, 5.0 % in the 7 days before(, to the same hour)?[.]"
    assert re.search(f"{before} No single reason explains the rise[.] The rise began ", page)
    assert "16 of 40" not in page
    sentence = page.partition("More calls are rejected.")[2].partition("</p>")[0]
    assert re.search(r'/rejections\?from=\d{4}-\d\d-\d\dT[^"&]*">See them</a>', sentence)  # only a part of the period


def test_a_new_reason_of_rejections_is_shown_if_it_has_at_least_ten_calls(overview, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()

    def record(result, count, days_ago):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])

    record("args-mismatch", 20, 1)
    assert "new reason" not in overview(), "nothing was rejected before"
    record("expired", 100, 8)
    record("expired", 100, 1)
    record("replayed", 9, 1)
    page = " ".join(overview().split())
    assert "20 are <code>args-mismatch</code>, none in the 7 days before" in page
    record("args-mismatch", 1, 8)
    assert "new reason" not in overview()
    record("replayed", 1, 1)
    assert "10 are <code>replayed</code>, none in" in " ".join(overview().split())


def add_data_of_last_year(workspace, api):
    production = workspace.workspace.environments.get(name="production")
    a_year_ago = timezone.now() - timedelta(days=365)
    record_verifications(production, [Verification("accepted", a_year_ago)])
    conversations = [{"conversationId": "conv_last_year", "startedAt": int(a_year_ago.timestamp())}]
    assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200


@pytest.mark.parametrize("span", ["24h", "7d", "30d", "all"])
def test_the_head_names_once_what_the_tiles_are_compared_with(overview, api, workspace, span):
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    periods = {"24h": "the same hours a week before", "7d": "the 7 days before", "30d": r"\d+ \w+ – \d+ \w+ \d{4}"}
    add_data_of_last_year(workspace, api)
    page = " ".join(overview(f"?range={span}").split())
    if span == "all":
        assert "compared with" not in page
        return
    assert len(re.findall(f">compared with {periods[span]}", page)) == 1
    tiles = page.partition('aria-label="Facts"')[2].partition("</section>")[0]
    assert "none before" in tiles
    assert "against" not in tiles


def test_a_period_that_has_nothing_to_compare_with_says_why(overview, workspace):
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    register_conversations(production, [Arrival("c1", now - timedelta(days=32)), Arrival("c2")], now=now)
    page = tidy(overview("?range=30d"))
    assert "no comparison: no data before <time" in page
    assert "data since" not in page


@pytest.mark.parametrize("is_new", [False, True])
def test_every_page_uses_the_same_words_if_there_is_no_previous_data(browser_client, api, workspace, is_new):
    start = fill_workspace(workspace, api)
    if not is_new:
        add_data_of_last_year(workspace, api)
    words = "no data before <time" if is_new else "none in the 7 days before"
    overview = " ".join(browser_client.get(f"{start}/overview").content.decode().split()).partition("<main")[2]
    assert overview.count("data since <time") == is_new  # once, in the head of the page
    assert "no data before" not in overview.lower()
    assert overview.count("none before") >= (0 if is_new else 4)
    for page, times in (
        ("outcomes", 2),
        ("outcome?key=purchase", 1),
        ("rejections", 3 if is_new else 4),
    ):
        html = " ".join(browser_client.get(f"{start}/{page}").content.decode().split())
        assert html.partition("<main")[2].count(words) >= times, page
        assert " against " not in html.partition('class="card facts"')[2].partition("</section>")[0]


def test_the_numbers_equal_those_of_the_linked_pages(browser_client, api, workspace):
    start = fill_workspace(workspace, api)
    overview = browser_client.get(f"{start}/overview").context
    facts = {fact.name: fact for fact in overview["facts"]}
    outcomes, rejections = (browser_client.get(f"{start}/{name}").context for name in ("outcomes", "rejections"))
    assert facts["outcomes"].value == outcomes["totals"].outcomes > 0
    assert facts["brokenJoins"].value == outcomes["totals"].broken > 0
    assert facts["rejections"].value == rejections["rejected"] > 0
    assert overview["figure"] == outcomes["figure"]
    assert facts["operations"].value == browser_client.get(f"{start}/catalog").context["operations"].paginator.count


@pytest.mark.parametrize("query", ["", "range=all", "from=2020-01-01&to=2020-01-02"])
def test_new_and_changed_operations_link_to_their_list(browser_client, api, workspace, query):
    start = fill_workspace(workspace, api)
    page = browser_client.get(f"{start}/overview?{query}")
    operations = next(fact for fact in page.context["facts"] if fact.name == "operations")
    links = re.findall(r'<a class="nowrap" href="([^"]+)">([0-9]+) (new|changed)</a>', page.content.decode())
    assert [(int(count), word) for _, count, word in links] == [(part.count, part.word) for part in operations.parts]
    assert [word for _, _, word in links] == ([] if "2020" in query else ["new", "changed"])
    for address, count, _ in links:
        assert browser_client.get(unescape(address)).context["operations"].paginator.count == int(count)


def test_a_period_without_data_says_so_and_when_data_begin(overview, api, workspace):
    fill_workspace(workspace, api)
    page = tidy(overview("?from=2020-01-01&to=2020-01-02"))
    assert "Nothing was reported in this period" in page
    assert "No data before" in page
    assert 'aria-label="What needs attention"' not in page
    assert "No verifications were reported in this period" in page
    assert "verified calls of this period was rejected" not in page


@pytest.mark.parametrize("range_", ["12m", "all"])
def test_charts_and_their_tables_begin_with_the_first_data(overview, browser_client, api, range_):
    started_at = timezone.now() - timedelta(days=5)
    conversations = [{"conversationId": "c1", "startedAt": started_at.timestamp()}]
    assert api.post("/api/conversations", {"conversations": conversations}).status_code == 200
    report_outcomes(api, "c1")
    page = tidy(overview(f"?range={range_}"))
    assert "data since" in page
    series = json.loads(browser_client.get(f"{PAGE}.json?range={range_}").getvalue())["tables"]["series"]
    assert [row["conversations"] for row in series] == [1, 0, 0, 0, 0, 0]
    assert "No data before" not in overview("?range=24h")


@given(st.integers(1, 10_000), st.integers(1, 10_000), st.data())
def test_points_are_the_difference_of_the_displayed_rates_unless_the_exact_ones_hardly_differ(
    total, previous_total, data
):
    value, previous = data.draw(st.integers(0, total)), data.draw(st.integers(0, previous_total))
    fact = Fact("brokenJoins", "Broken joins", "joins", value, total, previous, previous_total)
    rate, previous_rate = 100 * value / total, 100 * previous / previous_total
    points = 0.0 if fact.points == "±0" else float(fact.points.replace("−", "-"))
    displayed_difference = round(rate, 1) - round(previous_rate, 1)
    hardly_differ = abs(rate - previous_rate) < SMALLEST_POINTS
    assert points == pytest.approx(0.0 if hardly_differ else displayed_difference, abs=1e-6)


def test_rates_on_both_sides_of_a_rounding_limit_do_not_differ():
    """28.856 % and 28.829 % are written as 28.9 % and 28.8 %."""
    assert Fact("brokenJoins", "Broken joins", "joins", 58, 201, 128, 444).points == "±0"


@pytest.mark.parametrize(("days", "words"), [(12, "18 of 30 days are missing"), (30, "sends it live traffic")])
def test_the_banner_of_the_sample_says_whether_its_history_is_complete(overview, workspace, days, words):
    SampleWorkspace.objects.create(workspace=workspace.workspace, made_at=timezone.now(), days=days)
    page = " ".join(overview().split())
    assert "This is a sample workspace." in page
    assert [text in page for text in ("days are missing", "sends it live traffic")] == [days < 30, days == 30]
    assert words in page


def test_an_outage_is_shown_even_if_the_rate_of_the_period_hides_it(overview, browser_client, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    since = now - timedelta(minutes=30)
    record_verifications(
        production,
        [
            Verification("accepted", since, count=90_000),
            Verification("bad-signature", now - timedelta(minutes=1), count=37),
        ],
    )
    page = tidy(overview("?range=30d"))
    assert "No call has been accepted since <time" in page
    assert f"{since:%H:%M:%S}</time>.</b>" in page
    assert "37 were rejected, all as <code>bad-signature</code>, the last one <time" in page
    assert "No broken joins" not in page
    assert "for a new reason" not in page
    link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
    assert "reason=bad-signature" in link
    assert "range" not in link
    listed = browser_client.get(link).context
    assert listed["listed_calls"] == 37
    assert listed["filters"].since - since == timedelta(microseconds=1)  # the time of that call itself is left out
    assert listed["period"].start <= since < listed["period"].start + timedelta(minutes=15)
    [row] = read_export(browser_client, "outage")
    assert (row["rejections"], row["mainReason"], row["withMainReason"]) == (37, "bad-signature", 37)
    assert "No call has been accepted" not in tidy(overview("?from=2026-01-05&to=2026-01-06"))
    record_verifications(production, [Verification("accepted", now)])
    assert "No call has been accepted" not in tidy(overview())
    assert read_export(browser_client, "outage") == []


def test_the_first_calls_of_a_customer_are_shown_if_all_were_rejected(overview, browser_client, workspace):
    production = workspace.workspace.environments.get(name="production")
    record_verifications(production, [Verification("bad-signature", timezone.now())])
    page = tidy(overview())
    assert "No call was accepted yet." in page
    assert "The only call so far was rejected, as <code>bad-signature</code>, <time" in page
    record_verifications(production, [Verification("expired", timezone.now(), count=2)])
    page = tidy(overview())
    assert "All 3 calls so far were rejected, 2 of them as <code>expired</code>, the last one <time" in page
    link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
    assert browser_client.get(link).context["rejected"] == 2


def drop_tag(tag):
    """Return what a reader sees in place of a tag: nothing for `</span>`, and a space for any other."""
    return "" if tag[0] == "</span>" else " "


def test_a_broken_rate_that_a_move_changed_did_not_fall(overview, browser_client, workspace):
    """Both periods are compared by what was reported in them, and the tile says what was moved."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    for when in (now - timedelta(days=7), now):
        names = [f"{when:%d}-{number}" for number in range(20)]
        register_conversations(production, [Arrival(name) for name in names[:15]], now=when)
        register_conversations(staging, [Arrival(name) for name in names[15:]], now=when)
        record_outcomes(production, [Report(name, "purchase") for name in names], now=when)
    register_conversations(production, [Arrival("begin")], now=now - timedelta(days=20))
    page = tidy(re.sub("</span>|<[^>]*>", drop_tag, overview("?range=7d")))
    assert "5 of 20; ±0 points" in page
    move = move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)
    assert move.outcomes == 5
    page = tidy(re.sub("</span>|<[^>]*>", drop_tag, overview("?range=7d")))
    moves = "5 moved to staging; with them 25.0 %, ±0 points"
    assert f"0 of 15 {moves}" in page
    joins = browser_client.get("/w/lumen-books/production/joins?range=7d").content.decode()
    joins = tidy(re.sub("</span>|<[^>]*>", drop_tag, joins))
    assert f"of 15 reported {moves} against the 7 days before" in joins
    facts = {fact["fact"]: (fact["movedHere"], fact["movedAway"]) for fact in read_export(browser_client, "facts")}
    assert facts["brokenJoins"] == (0, 5)
    assert (facts["outcomes"], facts["rejections"]) == ((0, None), (None, None))
    undo_move(move, actor="ann", now=now)
    assert "moved" not in overview("?range=7d")


def test_outcomes_that_were_moved_here_are_no_rise(browser_client, workspace):
    """The period before contains no outcomes that were moved here."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    for when, count in ((now - timedelta(days=7), 4), (now, 3)):
        names = [f"{when:%d}-{number}" for number in range(5)]
        register_conversations(staging, [Arrival(name) for name in names], now=when)
        record_outcomes(staging, [Report(name, "purchase") for name in names[:count]], now=when)
    record_outcomes(production, [Report(f"{now:%d}-{number}", "purchase") for number in (3, 4)], now=now)
    register_conversations(staging, [Arrival("begin")], now=now - timedelta(days=20))
    move = move_broken_joins(production, staging, parse_period({}, now=now), actor="ann", now=now)
    assert move.outcomes == 2
    html = browser_client.get("/w/lumen-books/staging/overview?range=7d").content.decode()
    page = tidy(re.sub("</span>|<[^>]*>", drop_tag, html))
    assert "Outcomes 5 −25.0 % without the 2 moved here" in page
    assert "0 of 5 2 moved here from production; without them 0 %, ±0 points" in page
    assert not re.search(r'class="nowrap (up|down)">\s*−25', html)  # with the moves there are more
    tables = json.loads(browser_client.get("/w/lumen-books/staging/overview.json").getvalue())["tables"]
    facts = {fact["fact"]: (fact["movedHere"], fact["movedAway"]) for fact in tables["facts"]}
    assert (facts["outcomes"], facts["brokenJoins"]) == ((2, None), (2, 0))


def test_the_head_says_when_the_first_data_came_not_when_its_quarter_hour_began(overview, workspace):
    production = workspace.workspace.environments.get(name="production")
    now = timezone.now()
    quarter = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0) - timedelta(hours=1)
    first = quarter + timedelta(minutes=8)
    production.workspace.environments.update(created_at=quarter + timedelta(minutes=3))
    register_conversations(production, [Arrival("c1", quarter + timedelta(minutes=4))], now=first)
    assert f">{quarter + timedelta(minutes=3):%a %-d %b, %H:%M}</time>" in overview("?range=7d&tz=UTC")
    record_outcomes(production, [Report("c1", "purchase")], now=first)
    assert re.search(r"data since <time[^>]*>([^<]*)<", overview("?range=7d&tz=UTC"))[1].endswith(f"{first:%H:%M}")
    record_verifications(production, [Verification("accepted", first - timedelta(minutes=2))])
    since = first - timedelta(minutes=2)
    assert re.search(r"data since <time[^>]*>([^<]*)<", overview("?range=7d&tz=UTC"))[1].endswith(f"{since:%H:%M}")
