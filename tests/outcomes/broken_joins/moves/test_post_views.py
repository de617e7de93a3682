"""Moving broken joins on the page: a move is counted, reported, logged and undone, and only people can make one."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Move, Outcome
from tests.page_text import read_html
from tests.read_tables import read_tables
from workspaces.models import AuditEntry

PAGE = "/w/lumen-books/production/joins"
CHOSEN = f"{PAGE}?why=other-environment&in=staging"


@pytest.fixture
def environments(workspace):
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    register_conversations(staging, [Arrival("s1"), Arrival("s2")], now=now)
    record_outcomes(production, [Report("s1", "purchase"), Report("s2", "purchase"), Report("never", "x")], now=now)
    record_outcomes(production, [Report("s1", "long ago")], now=now - timedelta(days=60))
    return production, staging


def form_of(html):
    """Return the address of the first form that moves broken joins."""
    return re.search(r'<form method="post" action="([^"]*/joins/move[^"]*)"', html)[1].replace("&amp;", "&")


def notice_of(response):
    return " ".join(re.search(r'<div class="notice.*?</div>', response.content.decode(), re.DOTALL)[0].split())


def test_the_page_counts_the_movable_joins_and_moves_exactly_those(environments, browser_client):
    production, staging = environments
    html = browser_client.get(CHOSEN).content.decode()
    assert "Move 2 to staging" in html
    response = browser_client.post(form_of(html), {"to": "staging", "range": "7d"})
    address = f"{PAGE}?range=7d&done=moved&move={Move.objects.get().pk}"
    assert (response.status_code, response["Location"]) == (303, address)
    assert Outcome.objects.filter(environment=staging, broken=False).count() == 2
    assert Outcome.objects.filter(environment=production, broken=True).count() == 2
    assert AuditEntry.objects.filter(action="broken joins moved", actor="test-operator").count() == 1
    (line,) = read_tables(browser_client.get(f"{PAGE}.json"))["moves"]
    assert (line["from"], line["to"], line["outcomes"], line["met"]) == ("production", "staging", 2, 0)


def test_a_list_of_moves_that_is_cut_says_how_many_there_are(environments, browser_client):
    production, staging = environments
    for minute in range(12):
        at = timezone.now() - timedelta(minutes=minute)
        Move.objects.create(source=production, target=staging, moved_at=at, moved_by="ann", outcomes=1, met=0)
        page = read_html(browser_client.get(PAGE))
        assert ("; the download has all.</footer>" in page) is (minute >= 10)
    assert "The latest 10 of 12; the download has all." in page
    assert len(read_tables(browser_client.get(f"{PAGE}.json"))["moves"]) == 12


def test_a_move_is_undone_by_its_button(environments, browser_client):
    before = set(Outcome.objects.values_list("conversation__conversation_id", "environment_id", "broken"))
    browser_client.post(f"{PAGE}/move", {"to": "staging"})
    html = browser_client.get(PAGE).content.decode()
    move = Move.objects.get()
    assert f"/joins/moves/{move.pk}/undo" in html
    for done in ("undone", "nothing"):
        response = browser_client.post(f"{PAGE}/moves/{move.pk}/undo", {"range": "7d"})
        assert response["Location"] == f"{PAGE}?range=7d&done={done}"
        assert browser_client.get(response["Location"]).status_code == 200
    assert set(Outcome.objects.values_list("conversation__conversation_id", "environment_id", "broken")) == before


def test_after_a_move_the_page_shows_the_rest_and_can_undo_the_move_at_once(environments, browser_client):
    """The page was filtered by the cause of the moved joins. With this filter, its list would be empty now."""
    referer = f"http://testserver{CHOSEN}&key=purchase&page=2"
    response = browser_client.post(f"{PAGE}/move", {"to": "staging", "range": "7d"}, headers={"Referer": referer})
    move = Move.objects.get()
    assert response["Location"] == f"{PAGE}?key=purchase&range=7d&done=moved&move={move.pk}"
    response = browser_client.post(f"{PAGE}/move", {"to": "staging", "range": "7d"}, headers={"Referer": referer})
    assert response["Location"] == f"{PAGE}?key=purchase&range=7d&done=nothing"
    address = f"{PAGE}?range=7d&done=moved&move={move.pk}"
    notice = notice_of(browser_client.get(address))
    assert f"{move.outcomes} moved to staging." in re.sub("<[^>]*>", "", notice)
    response = browser_client.post(
        re.search(rf'action="([^"]*/joins/moves/{move.pk}/undo[^"]*)"', notice)[1].replace("&amp;", "&"),
        {"range": "7d"},
        headers={"Referer": f"http://testserver{address}"},
    )
    assert response["Location"] == f"{PAGE}?range=7d&done=undone"
    assert "undone since" in notice_of(browser_client.get(address))
    for unknown in ("", "0", "x", "9" * 30):
        assert browser_client.get(f"{PAGE}?done=moved&move={unknown}").status_code == 200


def test_a_key_sees_a_move_without_its_button(environments, browser_client, api):
    browser_client.post(f"{PAGE}/move", {"to": "staging"})
    notice = notice_of(api.get(f"{PAGE}?done=moved&move={Move.objects.get().pk}"))
    assert "moved to" in notice
    assert "<form" not in notice


def test_both_actions_need_a_csrf_token_and_post(environments, browser_client):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = browser_client.cookies
    assert strict.post(f"{PAGE}/move", {"to": "staging"}).status_code == 403
    assert browser_client.get(f"{PAGE}/move").status_code == 405
    assert not Move.objects.exists()
    browser_client.post(f"{PAGE}/move", {"to": "staging"})
    undo = f"{PAGE}/moves/{Move.objects.get().pk}/undo"
    assert strict.post(undo).status_code == 403
    assert browser_client.get(undo).status_code == 405
    assert Move.objects.get().undone_at is None


def test_a_key_reads_the_page_but_cannot_move(environments, api):
    assert "Move 2" not in api.get(CHOSEN).content.decode()
    headers = {"x-service-api-key": api.key}
    assert api.client.post(f"{PAGE}/move", {"to": "staging"}, headers=headers).status_code == 302
    assert not Move.objects.exists()


def test_a_member_of_another_workspace_cannot_move_or_undo(environments, browser_client, other_workspace):
    browser_client.post(f"{PAGE}/move", {"to": "staging"})
    stranger = get_user_model().objects.create_user("stranger")
    other_workspace.workspace.memberships.create(user=stranger, role="editor")
    client = Client()
    client.force_login(stranger)
    theirs = "/w/other-shop/production/joins"
    pk = Move.objects.get().pk
    assert client.post(f"{PAGE}/move", {"to": "staging"}).status_code == 404
    assert client.post(f"{PAGE}/moves/{pk}/undo").status_code == 404
    assert client.post(f"{theirs}/moves/{pk}/undo").status_code == 404
    assert Move.objects.get().undone_at is None


@pytest.mark.parametrize("target", ["", "production", "nowhere", "Staging", "\0"])
def test_only_another_environment_of_the_workspace_is_a_target(environments, browser_client, target):
    assert browser_client.post(f"{PAGE}/move", {"to": target}).status_code == 400
    assert not Move.objects.exists()
