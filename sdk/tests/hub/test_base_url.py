"""The address of the hub: which are refused, and which port is meant without one."""

import socket

import pytest

from affidavit._errors import HubUnreachable, ReportError
from affidavit._hub.retries import Retry
from affidavit._hub.transport import HttpTransport


@pytest.mark.parametrize(
    "base_url",
    ["", "hub.example.com", "ftp://hub", "http://", "http://u:p@hub", "http://hub?x=1", "http://hub:99999",
     "http://hub:x", "http://[::1", "http://hüb", "http://hub#x", 5,
     "https://.example.com", "http://hub..example.com", f"http://{'a' * 64}.com", "http://hub /", "http://hub/ ",
     "http://hub/\x7f"],
)  # fmt: skip
def test_an_invalid_base_url_is_refused_at_once(base_url):
    with pytest.raises(ReportError) as caught:
        HttpTransport(base_url)
    assert caught.value.code == "invalid-base-url"


@pytest.mark.parametrize(
    ("base_url", "address"),
    [("http://[::1]", ("::1", 80)), ("https://[2001:db8::5]/hub", ("2001:db8::5", 443)),
     ("http://[::1]:8000", ("::1", 8000)), ("https://hub.example.com", ("hub.example.com", 443))],
)  # fmt: skip
def test_without_a_port_in_the_address_the_usual_one_is_used(open_transport, monkeypatch, base_url, address):
    addresses = []

    def refuse(target, *_, **__):
        addresses.append(target)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(HubUnreachable):
        open_transport(base_url, retry=Retry(attempts=1)).post_json("/x", b"{}", {})
    assert addresses == [address]
