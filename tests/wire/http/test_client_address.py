"""The client's address is the nearest one that is not a trusted proxy. No client can choose it by a header."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from wire.http.client_address import ClientAddressMiddleware, find_client_address
from wire.request_context import current_client_address

PROXIES = [ip_network("10.0.0.0/8"), ip_network("::1"), ip_network("2001:db8:ff::/48")]
PROXY, CLIENT = "10.1.2.3", "203.0.113.7"
PARTS = st.one_of(st.ip_addresses().map(str), st.sampled_from([PROXY, "::1", CLIENT]), st.text(max_size=20))


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "address"),
    [
        (CLIENT, "", CLIENT),
        (CLIENT, "198.51.100.1", CLIENT),  # the client is no proxy, so its header is ignored
        (PROXY, CLIENT, CLIENT),
        (PROXY, f"198.51.100.1, {CLIENT}", CLIENT),
        (PROXY, f"{CLIENT}, 10.9.9.9", CLIENT),
        (PROXY, "", PROXY),
        (PROXY, "10.5.5.5", "10.5.5.5"),
        (PROXY, f"{CLIENT}, unknown", PROXY),
        (PROXY, f"{CLIENT}:4711", CLIENT),  # some proxies add the port
        (PROXY, f"198.51.100.1:80, {CLIENT}:4711, 10.9.9.9:5", CLIENT),
        ("::1", "[2001:db8::7]:4711", "2001:db8::7"),
        ("::1", "[2001:db8::7]", "2001:db8::7"),
        (PROXY, f"{CLIENT}:port", PROXY),
        (PROXY, f"{CLIENT}:", PROXY),
        (PROXY, f"[{CLIENT}]:80", PROXY),
        (PROXY, "[2001:db8::7", PROXY),
        ("::1", "2001:db8::7", "2001:db8::7"),
        ("2001:db8:ff::1", "2001:0DB8:0::0007", "2001:db8::7"),
        ("::ffff:10.1.2.3", CLIENT, CLIENT),
        (f"::ffff:{CLIENT}", "198.51.100.1", CLIENT),
        (PROXY, f"::ffff:{CLIENT}", CLIENT),
        ("", "", ""),
        ("", CLIENT, ""),
        ("nonsense", CLIENT, ""),
    ],
)
def test_the_client_has_the_nearest_address_that_is_not_a_proxy(peer, forwarded_for, address):
    assert find_client_address(peer, forwarded_for, PROXIES) == address


@given(peer=PARTS, parts=st.lists(PARTS, max_size=6))
def test_the_result_is_an_address_or_empty(peer, parts):
    address = find_client_address(peer, ",".join(parts), PROXIES)
    if address:
        ip_address(address)


@given(peer=st.ip_addresses().map(str), forwarded_for=st.text())
def test_without_trusted_proxies_the_header_is_ignored(peer, forwarded_for):
    assert find_client_address(peer, forwarded_for, []) == find_client_address(peer, "", [])


@given(client=st.ip_addresses(v=4).filter(lambda a: a not in PROXIES[0]).map(str), forged=st.lists(PARTS, max_size=5))
def test_addresses_that_a_client_adds_to_the_header_change_nothing(client, forged):
    assert find_client_address(PROXY, ",".join([*forged, client]), PROXIES) == client


def test_the_address_is_set_during_a_request(settings):
    settings.TRUSTED_PROXIES = PROXIES
    addresses: list[str] = []

    def answer(request):
        addresses.append(current_client_address.get())
        return HttpResponse()

    request = RequestFactory().get("/", REMOTE_ADDR=PROXY, headers={"X-Forwarded-For": CLIENT})
    ClientAddressMiddleware(answer)(request)
    assert addresses == [CLIENT]
    assert current_client_address.get() == ""
