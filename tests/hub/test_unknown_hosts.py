"""A request with an unknown host name gets a problem document (machines) or a page (people).

So does a form that Django refuses to read.
"""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
WRONG = {"host": "elsewhere.example"}


@pytest.mark.parametrize("address", ["/api/catalog", "/api/conversations", "/api/openapi.json", "/api/nothing"])
def test_a_machine_gets_a_problem_document_with_its_request_id(api, address):
    answer = api.get(address, headers={**WRONG, "X-Request-Id": "r1"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert (answer["X-Request-Id"], answer.json()["requestId"]) == ("r1", "r1")
    assert answer.json()["code"] == "invalid-request"
    assert "ALLOWED_HOSTS" in answer.json()["detail"]


def test_a_post_gets_a_problem_document_too_and_nothing_is_stored(api):
    body = {"conversations": [{"conversationId": "c1"}]}
    answer = api.post("/api/conversations", body, headers=WRONG)
    assert (answer.status_code, answer.json()["status"]) == (400, 400)
    assert api.post("/api/conversations", body).json() == {"registered": 1, "alreadyKnown": 0, "healedOutcomes": 0}


@pytest.mark.parametrize("address", ["/", "/sign-in", "/healthz"])
def test_a_person_gets_a_page_that_does_not_repeat_the_name(client, address):
    answer = client.get(address, headers={**WRONG, "accept": "text/html"})
    assert answer.status_code == 400
    assert b"ALLOWED_HOSTS" in answer.content
    assert b"elsewhere.example" not in answer.content
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/metrics"])
def test_a_monitor_gets_a_problem_document(client, address):
    answer = client.get(address, headers={**WRONG, "accept": "*/*"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "ALLOWED_HOSTS" in answer.json()["detail"]


def test_a_form_that_django_refuses_to_read_is_reported_in_the_same_shape(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 2
    form = {str(n): "x" for n in range(5)}
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    answer = client.post("/sign-out", form, headers={"accept": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")
