"""On a full disk, what machines send is refused before it takes the space that PostgreSQL needs."""

from __future__ import annotations

import shutil
from collections import namedtuple

import pytest

from hub.local.supervision.ballast import FULL_BYTES, is_released

OUTCOME = {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]}
usage = namedtuple("usage", "total used free")


def set_free(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, free))


@pytest.mark.django_db
def test_what_machines_send_does_not_take_the_last_space(api, settings, tmp_path, monkeypatch):
    settings.HUB_DATA_DIR = tmp_path
    set_free(monkeypatch, FULL_BYTES - 1)
    assert api.post("/api/conversation-outcomes", OUTCOME).status_code == 200, "the ballast is still there"
    (tmp_path / "ballast").touch()
    answer = api.post("/api/conversation-outcomes", OUTCOME)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "5")
    assert "disk of the hub is full. Nothing of this request was stored" in answer.json()["detail"]
    assert api.get("/api/catalog").status_code == 200
    set_free(monkeypatch, FULL_BYTES)
    assert api.post("/api/conversation-outcomes", OUTCOME).status_code == 200


@pytest.mark.django_db
def test_a_report_on_a_full_disk_empties_the_ballast_and_does_not_wait_for_the_supervisor(
    api, settings, tmp_path, monkeypatch
):
    """In the second until the supervisor looks again, a quick client could fill what is left."""
    settings.HUB_DATA_DIR = tmp_path
    ballast = tmp_path / "ballast"
    ballast.write_bytes(bytes(1000))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, FULL_BYTES + 999 - ballast.stat().st_size))
    assert api.post("/api/conversation-outcomes", OUTCOME).status_code == 200
    assert is_released(tmp_path)
