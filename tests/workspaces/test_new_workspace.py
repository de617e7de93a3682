"""The first page and the making of workspaces."""

import threading

import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import connections
from django.utils import timezone

from workspaces.create import create_workspace
from workspaces.models import AuditEntry, Membership, Workspace


@pytest.fixture
def member_client(client, workspace):
    ada = get_user_model().objects.create_user("ada")
    Membership.objects.create(workspace=workspace.workspace, user=ada)
    client.force_login(ada)
    return client


def test_an_operator_without_a_workspace_is_redirected_to_create_one(browser_client):
    assert browser_client.get("/")["Location"] == "/workspaces/new"
    assert b"Create your first workspace" in browser_client.get("/workspaces/new").content


def test_the_first_page_leads_to_the_first_workspace_by_name(browser_client, other_workspace, workspace):
    assert browser_client.get("/")["Location"] == "/w/lumen-books/production/overview"


def test_a_member_is_redirected_to_their_own_workspace(member_client, other_workspace):
    assert member_client.get("/")["Location"] == "/w/lumen-books/production/overview"


def test_a_person_without_a_workspace_sees_a_page_that_says_so(client, workspace):
    client.force_login(get_user_model().objects.create_user("stranger"))
    answer = client.get("/")
    assert answer.status_code == 200
    assert b"You are not in a workspace yet" in answer.content
    assert b"Lumen" not in answer.content


def test_a_new_workspace_shows_its_keys_once_after_a_redirect_and_says_what_is_next(browser_client):
    form = {"name": "Tea House", "environments": "staging, dev  staging"}
    redirect = browser_client.post("/workspaces/new", form)
    assert (redirect.status_code, redirect["Location"]) == (302, "/workspaces/new/tea-house")
    answer = browser_client.get(redirect["Location"])
    created = answer.context["created"]
    page = answer.content.decode()
    assert created["environments"] == ["production", "staging", "dev"]
    for name in ("reportKey", "platformKey", "publishableKey", "signingSecret"):
        assert page.count(created[name]) == 1
    assert "/w/tea-house/production/overview" in page
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.get().actor == "test-operator"
    again = browser_client.get(redirect["Location"])
    assert (again.status_code, again["Location"]) == (302, "/w/tea-house/production/overview")


def test_a_secret_shown_once_is_encrypted_in_the_database(browser_client):
    browser_client.post("/workspaces/new", {"name": "Tea House"})
    assert "gak_" in str(browser_client.session.items())
    stored = str(list(Session.objects.values()))
    assert "gak_" not in stored
    assert "gas_" not in stored
    assert "shown once" not in stored


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"name": ""}, "Enter a name."),
        ({"name": "  "}, "Enter a name."),
        ({"name": "Shop", "environments": "Staging"}, "lower-case letters"),
        ({"name": "Shop", "environments": "none"}, "Choose another name than none"),
        ({"name": "Shop", "environments": " ".join(f"e{n}" for n in range(50))}, "at most 50 environments"),
    ],
)
def test_an_invalid_workspace_is_refused_with_the_reason(browser_client, form, message):
    answer = browser_client.post("/workspaces/new", form)
    assert message in answer.content.decode()
    assert not Workspace.objects.exists()


def test_only_operators_make_workspaces(member_client):
    assert member_client.get("/workspaces/new").status_code == 404
    assert member_client.post("/workspaces/new", {"name": "Mine"}).status_code == 404
    assert Workspace.objects.count() == 1


def test_the_page_for_an_unknown_address_has_a_way_back(browser_client):
    answer = browser_client.get("/nowhere", headers={"accept": "text/html", "x-request-id": "req-of-mine"})
    assert answer.status_code == 404
    page = answer.content.decode()
    assert "There is nothing here" in page
    assert "This page does not exist, or you have no access." in page
    assert "req-of-mine" in page
    assert 'href="/"' in page


@pytest.mark.django_db(transaction=True)
def test_workspaces_of_one_name_that_are_created_at_once_get_slugs_of_their_own():
    barrier = threading.Barrier(3)
    slugs: list[str] = []

    def create() -> None:
        barrier.wait()
        slugs.append(create_workspace("Tea House", actor="ada", now=timezone.now()).workspace.slug)
        connections.close_all()

    threads = [threading.Thread(target=create) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(slugs) == ["tea-house", "tea-house-2", "tea-house-3"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Tea\nHouse", "Tea\r\n House", "Tea\u2028House", "Tea\x85House"])
def test_a_line_break_in_a_name_is_a_space(name):
    assert create_workspace(name, actor="test", now=timezone.now()).workspace.name == "Tea House"


def test_a_name_with_a_control_character_is_refused(browser_client):
    page = browser_client.post("/workspaces/new", {"name": "Tea\x1b[2JHouse"}).content.decode()
    assert "A workspace&#x27;s name has 1 to 100 characters" in page
    assert not Workspace.objects.exists()
