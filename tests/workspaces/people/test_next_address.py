"""Signing in leads to the address in `next`, but never to another host."""

import pytest
from django.contrib.auth import get_user_model

pytestmark = pytest.mark.django_db
ELSEWHERE = ["https://evil.example/", "//evil.example/", "javascript:alert(1)", r"/\evil.example"]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_signing_in_never_leads_to_another_host(client, target):
    get_user_model().objects.create_user("ada", password="correct horse")
    answer = client.post("/sign-in", {"login": "ada", "password": "correct horse", "next": target})
    assert answer["Location"] == "/"


@pytest.mark.parametrize("target", ["http://[", "//[evil", "https://evil.example", "javascript:alert(1)"])
def test_a_target_that_is_no_address_of_this_hub_is_left_out(client, target):
    form = {"login": "nobody", "password": "a wrong password", "next": target}
    for answer in (client.get("/sign-in", {"next": target}), client.post("/sign-in", form)):
        assert answer.status_code == 200
        assert target not in answer.content.decode()
