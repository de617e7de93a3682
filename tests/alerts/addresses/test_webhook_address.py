"""Webhooks go only to public hosts and to private networks that the operator allows."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.addresses.webhook_address import (
    MAX_LENGTH,
    TargetRefused,
    WebhookAddress,
    check_ip_addresses,
    is_public,
    parse_webhook_address,
)

PRIVATE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16", "198.18.0.1", "192.0.2.1",
    "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "3fff::1",
    "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "no address",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.215.14", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111"]


@pytest.mark.parametrize("ip", PRIVATE)
def test_an_ip_address_that_is_not_public_is_refused(ip):
    assert not is_public(ip)
    address = parse_webhook_address("https://host.example/hook")
    for ip_addresses in ([ip], ["8.8.8.8", ip], [ip, "8.8.8.8"]):
        with pytest.raises(TargetRefused, match="not public"):
            check_ip_addresses(address, ip_addresses, private_networks=[])


@pytest.mark.parametrize("ip", PUBLIC)
def test_a_public_ip_address_passes(ip):
    assert is_public(ip)
    check_ip_addresses(parse_webhook_address("https://host.example/hook"), [ip], private_networks=[])


@settings(max_examples=200, deadline=None)
@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_address_is_judged_like_itself(ip: IPv4Address):
    is_plain_public = is_public(str(ip))
    assert is_public(f"::ffff:{ip}") == is_plain_public
    assert is_public(str(IPv6Address((0x64FF9B << 96) | int(ip)))) == is_plain_public
    assert not is_public(str(IPv6Address((0x2002 << 112) | (int(ip) << 80) | 1)))
    assert not is_plain_public or ip.is_global


@settings(max_examples=200, deadline=None)
@given(st.ip_addresses(v=6))
def test_an_address_that_python_calls_private_is_never_public(ip: IPv6Address):
    assert not is_public(str(ip)) or ip.is_global


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "host.example/hook", "//host.example", "https://", "https:///hook", "ftp://host.example",
        "file:///etc/passwd", "gopher://host.example:25/x", "javascript:alert(1)", "unix:/run/docker.sock",
        "https://user@host.example", "https://user:secret@host.example", "https://8.8.8.8@127.0.0.1/",
        "https://host.example#@127.0.0.1/", "https://host.example/#fragment", "https://127.0.0.1\\@host.example/",
        "https://host.example\\.evil.example", "https://host .example", "https://host.example\t", " https://host.example",
        "https://host.example\r\nX: y", "https://host.example/\x00", "https://hóst.example", "https://ⓔxample.com",
        "https://1.1.1.1。nip.io", "https://host.example:99999", "https://host.example:-1", "https://host.example:0x50",
        "https://host..example", "https://.example", "https://host.example.", "https://-host.example", "https://host%2eexample",
        "https://2130706433", "https://0x7f000001", "https://0x7f.1", "https://017700000001", "https://127.1",
        "https://127.0.1", "https://0127.0.0.1", "https://127.0.0.0x1", "https://256.1.1.1", "https://1.2.3.4.5",
        "https://host.0x1", "https://[::1", "https://::1]", "https://[fe80::1%25eth0]", "https://[v1.x]", "https://[127.0.0.1]",
        "https://[::ffff:127.0.0.1%x]", "https://a" + "b" * 63 + ".example", "https://" + "a." * 127 + "example",
        "https://host.example/" + "x" * MAX_LENGTH, "HTTP+UNIX://x/", "https:host.example", "https:/host.example",
    ],
)  # fmt: skip
def test_odd_spellings_are_refused_and_not_repeated(text):
    with pytest.raises(TargetRefused) as caught:
        parse_webhook_address(text)
    assert len(text) < 9 or text not in caught.value.detail


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://host.example", WebhookAddress("https", "host.example", 443, "/")),
        ("HTTPS://Host.Example:8443/a%20b?c=d", WebhookAddress("https", "host.example", 8443, "/a%20b?c=d")),
        ("https://host.example?c", WebhookAddress("https", "host.example", 443, "/?c")),
        ("http://10.0.0.1:80/x", WebhookAddress("http", "10.0.0.1", 80, "/x")),
        ("https://[2606:4700::1111]:444/", WebhookAddress("https", "2606:4700::1111", 444, "/")),
        ("https://xn--bcher-kva.example/", WebhookAddress("https", "xn--bcher-kva.example", 443, "/")),
        ("https://a_b.example/", WebhookAddress("https", "a_b.example", 443, "/")),
    ],
)
def test_ordinary_addresses_are_accepted(text, address):
    assert parse_webhook_address(text) == address


def test_the_shown_address_has_no_path():
    address = parse_webhook_address("https://hooks.example:8443/services/T0/B0/secret?token=x")
    assert (address.shown_address, address.authority) == ("https://hooks.example:8443", "hooks.example:8443")
    assert parse_webhook_address("https://[2606:4700::1111]/").authority == "[2606:4700::1111]"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://host.example/", "https"), ("https://host.example:22/", "port"), ("https://host.example:25/", "port"),
        ("https://host.example:80/", "port"), ("https://host.example:0/", "port"),
        ("http://host.example:8080/", "https"),
    ],
)  # fmt: skip
def test_public_hosts_get_https_on_usual_ports_only(text, words):
    with pytest.raises(TargetRefused, match=words):
        check_ip_addresses(parse_webhook_address(text), ["8.8.8.8"], private_networks=[ip_network("10.0.0.0/8")])


def test_only_networks_that_the_operator_allows_are_permitted():
    networks = [ip_network("10.1.0.0/16"), ip_network("fd00::/8")]
    address = parse_webhook_address("http://internal.example:81/")
    for ips in (["10.1.2.3"], ["::ffff:10.1.2.3"], ["fd00::1", "10.1.0.1"]):
        check_ip_addresses(address, ips, private_networks=networks)
    for ips in (["10.2.0.1"], ["10.1.2.3", "127.0.0.1"], ["169.254.169.254"], []):
        with pytest.raises(TargetRefused):
            check_ip_addresses(address, ips, private_networks=networks)
    with pytest.raises(TargetRefused, match="https"):  # HTTPS is required, because one of the addresses is public
        check_ip_addresses(address, ["10.1.2.3", "8.8.8.8"], private_networks=networks)
