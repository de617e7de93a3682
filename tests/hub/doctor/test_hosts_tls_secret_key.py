"""The doctor sees settings that do not fit together."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from hub.doctor.hosts_tls_secret_key import (
    check_deployment,
    check_hosts,
    check_secret_key,
    check_tls,
)

PUBLIC = ["affidavit.example.com"]
PROXIES = [ip_network("10.0.0.0/8")]


@pytest.mark.parametrize(
    ("host", "names", "behind_tls", "state"),
    [
        ("127.0.0.1", ["localhost", "127.0.0.1"], False, "ok"),
        ("0.0.0.0", ["localhost", "0.0.0.0"], False, "wrong"),
        ("127.0.0.1", ["localhost"], True, "wrong"),
        ("127.0.0.1", PUBLIC, True, "ok"),
        ("127.0.0.1", ["*"], True, "wrong"),
    ],
)
def test_allowed_hosts_have_to_fit_hub_host_and_tls(settings, host, names, behind_tls, state):
    settings.HUB_HOST, settings.ALLOWED_HOSTS, settings.BEHIND_TLS = host, names, behind_tls
    assert check_hosts().state == state


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("hub.example.com", "ok"),
        (".example.com", "ok"),
        ("[2001:db8::1]", "ok"),
        ("https://hub.example.com", "wrong"),
        ("hub.example.com:8443", "wrong"),
        ("hub.example.com/hub", "wrong"),
        ("2001:db8::1", "wrong"),
        ("*.example.com", "wrong"),
    ],
)
def test_a_name_under_which_no_call_is_accepted_is_wrong(settings, name, state):
    settings.ALLOWED_HOSTS, settings.BEHIND_TLS = ["localhost", "other.example.com", name], True
    result = check_hosts()
    assert (result.state, f"{name} is no host name" in result.detail) == (state, state == "wrong")


@pytest.mark.parametrize(
    ("names", "behind_tls", "proxies", "state"),
    [
        (["localhost"], False, [], "ok"),
        (PUBLIC, False, [], "wrong"),
        (PUBLIC, True, [], "wrong"),
        (PUBLIC, True, PROXIES, "ok"),
    ],
)
def test_a_public_hub_needs_tls_and_a_trusted_proxy(settings, names, behind_tls, proxies, state):
    settings.ALLOWED_HOSTS, settings.BEHIND_TLS, settings.TRUSTED_PROXIES = names, behind_tls, proxies
    assert check_tls().state == state


def test_a_hub_that_listens_on_all_addresses_needs_tls(settings):
    settings.ALLOWED_HOSTS, settings.BEHIND_TLS, settings.HUB_HOST = ["localhost"], False, "0.0.0.0"
    assert (check_tls().state, "BEHIND_TLS" in check_tls().cure) == ("wrong", True)


def test_a_secret_key_that_can_be_guessed_is_wrong(settings):
    assert check_secret_key().state == "ok"
    settings.SECRET_KEY = "ab" * 25
    assert check_secret_key().state == "wrong"


def test_a_secret_key_that_other_users_can_read_is_wrong(settings, tmp_path):
    file = tmp_path / "secret.key"
    file.touch(mode=0o600)
    settings.SECRET_KEY_PATH = file
    assert check_secret_key().state == "ok"
    file.chmod(0o640)
    assert check_secret_key().cure == f"chmod 600 {file}"


def test_a_warning_of_django_is_shown(settings):
    settings.SECRET_KEY = "abcdefghijklmnopqrstuvwxyz0123456789"  # a start takes 32 characters
    assert check_deployment().state == "ok"
    settings.SECURE_CONTENT_TYPE_NOSNIFF = False
    assert "security.W006" in check_deployment().detail
