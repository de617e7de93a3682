"""Who may open a workspace's pages: its members, operators, and machines with one of its secret keys."""

import json
import re

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from workspaces.models import ApiKey, Environment, Membership

PAGE = "/w/lumen-books/production/rejections"
FORMS = [PAGE, f"{PAGE}.json", f"{PAGE}.csv"]


def browser_of(name: str, *workspaces) -> Client:
    user = get_user_model().objects.create_user(name)
    for workspace in workspaces:
        Membership.objects.create(workspace=workspace, user=user)
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("address", FORMS)
def test_a_member_of_another_workspace_finds_nothing(workspace, other_workspace, address):
    outsider = browser_of("outsider", other_workspace.workspace)
    assert outsider.get(address).status_code == 404


@pytest.mark.parametrize("address", FORMS)
def test_a_member_and_an_operator_find_the_pages(workspace, browser_client, address):
    member = browser_of("member", workspace.workspace)
    assert member.get(address).status_code == browser_client.get(address).status_code == 200


def test_a_foreign_workspace_looks_like_a_missing_one(workspace, other_workspace):
    outsider = browser_of("outsider", other_workspace.workspace)
    headers = {"accept": "text/html", "x-request-id": "same"}
    pages = [outsider.get(address, headers=headers) for address in (PAGE, "/w/nowhere/production/overview")]
    foreign_page, missing_page = (re.sub(rb'(csrf\w+" value=")\w+', rb"\1", page.content) for page in pages)
    assert foreign_page == missing_page


def test_the_menu_lists_only_the_workspaces_of_the_person(workspace, other_workspace):
    page = browser_of("member", workspace.workspace).get(PAGE).content.decode()
    assert "Lumen Books" in page
    assert "Other Shop" not in page


def test_a_machine_reads_with_its_own_workspaces_secret_key_only(client, workspace, other_workspace):
    own = client.get(f"{PAGE}.json", headers={"x-service-api-key": workspace.full_key})
    foreign_answer = client.get(f"{PAGE}.json", headers={"x-service-api-key": other_workspace.full_key})
    assert (own.status_code, foreign_answer.status_code) == (200, 404)


def test_a_machine_need_not_know_its_workspaces_slug(client, workspace, other_workspace, browser_client):
    own_page = PAGE.replace("lumen-books", "-")
    for created in (workspace, other_workspace):
        answer = client.get(f"{own_page}.json", headers={"x-service-api-key": created.full_key})
        assert json.loads(answer.getvalue())["workspace"] == created.workspace.slug
    table = client.get(f"{own_page}.csv", headers={"x-service-api-key": workspace.full_key})
    assert 'filename="lumen-books-production-' in table["Content-Disposition"]
    assert browser_client.get(own_page).status_code == 404


def test_a_publishable_or_revoked_key_reads_nothing(client, workspace):
    publishable = client.get(f"{PAGE}.json", headers={"x-service-api-key": workspace.publishable_key})
    ApiKey.objects.update(revoked_at="2026-01-01T00:00Z")
    revoked = client.get(f"{PAGE}.json", headers={"x-service-api-key": workspace.full_key})
    assert (publishable.status_code, revoked.status_code) == (403, 401)


def test_an_unknown_environment_is_not_found(workspace, browser_client):
    page = browser_client.get("/w/lumen-books/qa/overview")
    assert page.status_code == 404
    assert "Lumen Books has no environment of this name. It has production and staging." in page.content.decode()
    Environment.objects.create(workspace=workspace.workspace, name="test", audience="urn:test")
    page = browser_client.get("/w/lumen-books/qa/overview")
    assert "It has production, staging and test." in page.content.decode()


def test_without_signing_in_a_download_answers_a_problem_document(client, workspace):
    answer = client.get(f"{PAGE}.json")
    assert (answer.status_code, answer.json()["code"]) == (401, "not-signed-in")
