"""OIDC_ISSUER is an issuer or its discovery address; everything else is refused at the start."""

import os
import subprocess
import sys

import pytest
from django.conf import settings

from hub.environment_variables import read_oidc_issuer
from hub.local.startup_errors import StartupError

ISSUER = "https://login.example.com/realms/company"


@pytest.mark.parametrize(
    "value",
    [
        ISSUER,
        f"{ISSUER}/",
        f" {ISSUER}\t\n",
        f"{ISSUER}/.well-known/openid-configuration",
        f"{ISSUER}//.well-known/openid-configuration/ ",
    ],
    ids=repr,
)
def test_slashes_spaces_and_the_discovery_path_are_no_part_of_the_issuer(monkeypatch, value):
    monkeypatch.setenv("OIDC_ISSUER", value)
    assert read_oidc_issuer() == ISSUER


@pytest.mark.parametrize(
    "value", ["", " ", "http://localhost:8080/x", "http://127.0.0.1", "http://[::1]:1", "HTTPS://a.example"]
)
def test_no_issuer_and_one_of_this_machine_are_accepted(monkeypatch, value):
    monkeypatch.setenv("OIDC_ISSUER", value)
    assert read_oidc_issuer() == value.strip()


@pytest.mark.parametrize(
    "value",
    [
        "https://",
        "https:///realms",
        "https:login.example.com",
        "login.example.com",
        "http://login.example.com",
        "ftp://localhost",
        "localhost",
        "https://[::1",
        "https://login.example.com/realms one",
        "https://login.example.com?tenant=1",
        "https://login.example.com/#x",
        "https://user:hidden@login.example.com",
        "https://login.example.com/a\tb",
    ],
    ids=repr,
)
def test_what_is_no_issuer_is_refused_and_not_quoted(monkeypatch, value):
    monkeypatch.setenv("OIDC_ISSUER", value)
    with pytest.raises(StartupError, match="OIDC_ISSUER: not an https:// address") as error:
        read_oidc_issuer()
    assert "hidden" not in str(error.value)


@pytest.mark.parametrize("value", ["", " "], ids=repr)
def test_an_empty_name_or_sender_counts_as_not_set(tmp_path, value):
    """A file of variables often names what is not used; without a name, the button would be missing."""
    environment = os.environ | {"HUB_DATA_DIR": str(tmp_path), "OIDC_NAME": value, "DEFAULT_FROM_EMAIL": value}
    environment |= {"DJANGO_SETTINGS_MODULE": "hub.settings", "HUB_HOST": "127.0.0.1"}
    program = "from django.conf import settings as s; print(s.OIDC_NAME, s.DEFAULT_FROM_EMAIL, sep='; ')"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True
    )
    assert (result.stdout, result.stderr) == ("single sign-on; affidavit@127.0.0.1\n", "")
