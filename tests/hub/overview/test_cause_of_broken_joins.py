"""The overview says how many broken joins are unresolved, and names their cause if one prevails."""

import re
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone

from hub.retention.prune import prune_all
from outcomes.ingest.record import Report, record_outcomes
from tests.hub.overview.overview_page import PAGE, report_outcomes
from tests.page_text import read_html
from workspaces.models import RetentionPolicy


def test_the_cause_of_broken_joins_has_its_count_key_start_and_a_link(overview, api, workspace):
    staging = {"environment": "staging", "conversations": [{"conversationId": f"s{n}"} for n in range(3)]}
    assert api.post("/api/conversations", staging).status_code == 200
    report_outcomes(api, "s0", "s1", "s2", "unknown")
    page = overview("?tz=Asia/Kathmandu")
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
        assert f"See {them} and move {them} </a>" in overview()
        page = read_html(client.get(PAGE))
        assert f"See {them} </a>" in page
        assert "and move" not in page


def test_unresolved_joins_are_said_also_if_no_cause_prevails(overview, api, workspace):
    staging = {"environment": "staging", "conversations": [{"conversationId": "s0"}]}
    assert api.post("/api/conversations", staging).status_code == 200
    report_outcomes(api, "s0", "unknown")
    page = overview("?range=24h")
    assert "<b>2 broken joins are unresolved.</b> No cause has more than half of them." in page
    assert "No broken joins" not in page


def test_the_sentence_on_causes_is_about_the_joins_that_retention_keeps(overview, api, workspace, production):
    old = [Report("undefined", f"key-{number}") for number in range(3)]
    record_outcomes(production, old, now=timezone.now() - timedelta(days=3))
    assert "No cause has more than half" not in overview()
    RetentionPolicy.objects.create(workspace=workspace.workspace, broken_joins=2)
    prune_all(now=timezone.now())
    page = overview()
    assert "<b>3 broken joins are unresolved.</b> Single ones are kept for 2 days: no cause has more than half" in page
    report_outcomes(api, "undefined", "null")
    page = overview()
    assert "<b> Most broken joins have one cause. </b> 2 of the newest 2 have a placeholder" in page  # of 5


def test_one_broken_join_and_joins_of_one_cause_are_not_called_most(overview, production):
    """The words "Most broken joins" are for a cause with more than half of several joins, but not all."""
    record_outcomes(production, [Report("a", "purchase")], now=timezone.now())
    assert "1 broken join. </b> It is of a conversation that was never registered" in overview()
    record_outcomes(production, [Report("b", "purchase")], now=timezone.now())
    page = overview()
    assert "All 2 broken joins have one cause. </b> They are of conversations that were never registered" in page
