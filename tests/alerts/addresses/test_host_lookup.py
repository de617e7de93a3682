"""The host of a webhook is looked up, and must not lead into the hub's own network."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from alerts.addresses import host_lookup
from alerts.addresses.webhook_address import TargetRefused, parse_webhook_address
from alerts.models import Target
from alerts.setup.target_address import check_address


def test_one_private_address_of_a_name_is_enough_to_refuse_it(monkeypatch):
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ("8.8.8.8", "127.0.0.1")]
    monkeypatch.setattr(host_lookup.socket, "getaddrinfo", lambda *_, **__: entries)
    with pytest.raises(TargetRefused, match="not public"):
        host_lookup.look_up_host(parse_webhook_address("https://host.example/"))
    monkeypatch.setattr(host_lookup.socket, "getaddrinfo", lambda *_, **__: entries[:1])
    assert host_lookup.look_up_host(parse_webhook_address("https://host.example/")) == ["8.8.8.8"]


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
def test_names_of_this_machine_are_refused(name):
    with pytest.raises(TargetRefused):
        host_lookup.look_up_host(parse_webhook_address(f"https://{name}/"))


def test_a_name_that_does_not_exist_is_refused():
    with pytest.raises(host_lookup.Unresolved, match="could not be found"):
        host_lookup.look_up_host(parse_webhook_address("https://nothing.invalid/"))


def test_a_slow_name_server_keeps_only_one_thread_for_a_workspace(monkeypatch):
    asked, may_answer = Event(), Event()

    def resolve(host: str, *_: object, **__: object) -> list[object]:
        if host == "slow.example":
            asked.set()
            may_answer.wait(20)
        return [(0, 0, 0, "", ("8.8.8.8", 443))]

    monkeypatch.setattr(host_lookup.socket, "getaddrinfo", resolve)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(check_address, Target.WEBHOOK, "https://slow.example/", "ws_one")
        assert asked.wait(20)
        try:
            with pytest.raises(TargetRefused, match="being looked up"):
                check_address(Target.WEBHOOK, "https://host.example/", "ws_one")
            assert check_address(Target.WEBHOOK, "https://host.example/", "ws_two")
        finally:
            may_answer.set()
        assert first.result()
    assert check_address(Target.WEBHOOK, "https://host.example/", "ws_one")
