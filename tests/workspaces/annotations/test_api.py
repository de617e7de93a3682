"""POST and GET /api/annotations."""

from __future__ import annotations

import time
import uuid

import pytest
from django.utils import timezone

from affidavit._cli import main
from workspaces.annotations import api as annotations_api
from workspaces.keys.create import store_new_key
from workspaces.models import Annotation, ApiKey

ADDRESS = "/api/annotations"
pytestmark = pytest.mark.django_db


def codes_of(response):
    return [(fault["pointer"], fault["code"]) for fault in response.json()["errors"]]


def list_texts(response):
    return [item["text"] for item in response.json()["annotations"]]


def test_an_annotation_is_stored_and_listed(api, workspace):
    now = int(time.time())
    body = {"text": " Deploy 4.2 ", "at": now - 60, "url": "https://example.com/4.2"}
    answer = api.post(ADDRESS, body)
    assert answer.status_code == 201
    row = Annotation.objects.get()
    assert answer.json() == {"annotationId": str(row.pk), "at": now - 60}
    assert (row.text, row.environment.name, row.created_by) == (" Deploy 4.2 ", "production", f"key {api.key[:12]}…")
    item = {**body, "annotationId": str(row.pk), "environment": "production"}
    assert api.get(ADDRESS).json() == {"annotations": [item], "next": None}
    assert api.get(ADDRESS, environment="staging").json()["annotations"] == []


def test_an_annotation_without_a_time_is_of_now_and_milliseconds_are_accepted(api):
    before = int(time.time())
    assert before <= api.post(ADDRESS, {"text": "Now"}).json()["at"] <= int(time.time())
    assert api.post(ADDRESS, {"text": "Then", "at": 1_600_000_000_000}).json()["at"] == 1_600_000_000


def test_an_annotation_of_all_environments_is_listed_in_each(api):
    api.post(ADDRESS, {"text": "Holiday", "allEnvironments": True})
    api.post(ADDRESS, {"text": "Deploy", "environment": "staging"})
    assert list_texts(api.get(ADDRESS)) == ["Holiday"]
    staging = api.get(ADDRESS, environment="staging").json()["annotations"]
    assert {item["text"]: item["environment"] for item in staging} == {"Holiday": None, "Deploy": "staging"}


def test_a_key_of_one_environment_annotates_only_that_environment(api, workspace):
    key = store_new_key(
        workspace.workspace, ApiKey.SECRET, ["report"], environment_names=["staging"], now=timezone.now()
    )
    assert api.post(ADDRESS, {"text": "a", "environment": "staging"}, key=key).status_code == 201
    refused = api.post(ADDRESS, {"text": "a", "environment": "staging", "allEnvironments": True}, key=key)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope-missing")
    assert api.get(ADDRESS, key=key).json()["code"] == "scope-missing"
    assert Annotation.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ({}, [("/text", "required")]),
        ({"text": ""}, [("/text", "blank")]),
        ({"text": "é" * 201}, [("/text", "max_length")]),
        ({"text": 7}, [("/text", "invalid")]),
        ({"text": "a", "at": "now"}, [("/at", "invalid")]),
        ({"text": "a", "at": 4_000_000_000}, [("/at", "out-of-range")]),
        ({"text": "a", "url": "javascript:alert(1)"}, [("/url", "invalid-url")]),
        ({"text": "a", "url": "https:///path"}, [("/url", "invalid-url")]),
        ({"text": "a", "url": "https://h/ x"}, [("/url", "invalid-url")]),
        ({"text": "a", "url": "https://h:port"}, [("/url", "invalid-url")]),
        ({"text": "a", "url": "https://h/" + "x" * 2000}, [("/url", "max_length")]),
        ({"text": "a", "allEnvironments": "yes"}, [("/allEnvironments", "invalid")]),
    ],
)
def test_a_body_of_the_wrong_form_is_refused_as_a_whole(api, body, faults):
    answer = api.post(ADDRESS, body)
    assert (answer.status_code, codes_of(answer)) == (400, faults)
    assert not Annotation.objects.exists()


def test_a_redelivery_adds_no_annotation(api):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    first, second = (api.post(ADDRESS, {"text": "Deploy"}, headers=headers) for _ in range(2))
    assert (second.content, second["Idempotent-Replayed"]) == (first.content, "true")
    assert Annotation.objects.count() == 1
    assert api.post(ADDRESS, {"text": "Other"}, headers=headers).status_code == 422


@pytest.mark.django_db(transaction=True)
def test_the_command_says_when_an_annotation_was_already_recorded(live_server, workspace, capsys):
    command = ["annotate", "Deploy 4.2", "--hub", live_server.url, "--key", workspace.full_key]
    for _ in range(2):
        assert main([*command, "--once", "pipeline-81"]) == 0
    assert main(command) == 0
    recorded, repeated = "Annotated: Deploy 4.2\n", "Was already recorded: Deploy 4.2\n"
    assert capsys.readouterr().out == recorded + repeated + recorded
    assert Annotation.objects.count() == 2


def test_the_pages_of_the_list_lose_and_repeat_nothing(api, workspace, monkeypatch):
    monkeypatch.setattr(annotations_api, "ANNOTATIONS_A_PART", 3)
    now = int(time.time())
    for number in range(8):  # several annotations in one second
        assert api.post(ADDRESS, {"text": str(number), "at": now - number // 3}).status_code == 201
    texts: list[str] = []
    address = f"http://testserver{ADDRESS}?environment=production"
    while address:
        answer = api.get(address)
        texts += list_texts(answer)
        address = answer.json()["next"]
    assert sorted(texts) == [str(number) for number in range(8)]
    assert len(list_texts(api.get(ADDRESS))) == 3


@pytest.mark.parametrize("cursor", ["x", "1-", "-1", "1-zz", "99999999999999999999-" + "0" * 32, "１-" + "0" * 32])
def test_a_broken_cursor_is_refused(api, cursor):
    answer = api.get(ADDRESS, cursor=cursor)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")


def test_a_list_that_has_not_changed_is_not_sent_again(api):
    api.post(ADDRESS, {"text": "Deploy"})
    etag = api.get(ADDRESS)["ETag"]
    assert api.get(ADDRESS, headers={"If-None-Match": etag}).status_code == 304
    api.post(ADDRESS, {"text": "Another"})
    assert api.get(ADDRESS, headers={"If-None-Match": etag}).status_code == 200


def test_another_workspace_sees_no_annotation(api, other_workspace):
    api.post(ADDRESS, {"text": "Deploy", "allEnvironments": True})
    assert list_texts(api.get(ADDRESS, key=other_workspace.full_key)) == []


def test_other_methods_are_refused(api, client):
    answer = client.delete(ADDRESS)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, POST")
