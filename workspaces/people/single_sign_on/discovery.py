"""Fetch the documents that a provider publishes: its discovery document and its keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from requests import RequestException

from workspaces.people.single_sign_on.provider_requests import open_session

REQUIRED_ADDRESSES = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")


class UnusableProvider(RequestException):
    """A document of the provider is not what OpenID Connect asks for. The message is for the operator."""


def fetch_discovery(issuer: str) -> Mapping[str, Any]:
    """Return the discovery document of an issuer, with all addresses that signing in needs.

    issuer: without a slash at its end. Raises RequestException.
    """
    config = fetch_json(f"{issuer}/.well-known/openid-configuration")
    for name in REQUIRED_ADDRESSES:
        if not isinstance(config.get(name), str):
            raise UnusableProvider(f"the discovery document has no {name}")
    if config["issuer"].rstrip("/") != issuer:
        raise UnusableProvider(f"the discovery document is of the issuer {config['issuer'][:200]!r}")
    return config


def fetch_json(address: str, headers: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """Return the JSON object at an address of the provider. Raises RequestException."""
    with open_session() as session:
        response = session.get(address, headers=headers)
    response.raise_for_status()
    try:
        document = response.json()
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise UnusableProvider(f"the answer from {address[:200]} is no JSON object")
    return document
