"""The check of the OpenID Connect provider."""

from __future__ import annotations

from django.conf import settings
from requests import ConnectionError as NotConnected
from requests import HTTPError, RequestException, Timeout
from requests.exceptions import SSLError

from hub.doctor.result import Result
from workspaces.people.single_sign_on.discovery import UnusableProvider, fetch_discovery, fetch_json
from workspaces.people.single_sign_on.identity_token import ALGORITHMS, list_possible_keys

CURE = "Correct OIDC_ISSUER, or let this machine reach the provider."


def check_single_sign_on() -> Result:
    """Fetch the discovery document and the keys of the provider. The id and the secret of the hub are not tried."""
    if not settings.OIDC_ISSUER:
        return Result("ok", "OIDC_ISSUER is not set: nobody signs in through OpenID Connect.")
    try:
        key_set = fetch_json(fetch_discovery(settings.OIDC_ISSUER)["jwks_uri"])
        has_keys = any(list_possible_keys(key_set, {"alg": algorithm}) for algorithm in ALGORITHMS)
    except (RequestException, ValueError) as error:
        return Result("wrong", f"{settings.OIDC_ISSUER} cannot be used: {_describe(error)}.", CURE)
    if not has_keys:
        cure = f"Let the provider sign identity tokens with one of {', '.join(ALGORITHMS)}."
        return Result("wrong", f"{settings.OIDC_ISSUER} has no key that the hub can use.", cure)
    return Result("ok", f"{settings.OIDC_ISSUER} answers.")


def _describe(error: Exception) -> str:
    """Return what is wrong. Of what the provider's server wrote, repeat only the issuer and the address of its keys."""
    match error:
        case UnusableProvider() | ValueError():
            return str(error)
        case SSLError():
            return "its TLS certificate is not trusted (SSL_CERT_FILE names an authority of your own)"
        case HTTPError():
            return f"it answers {error.response.status_code}" if error.response is not None else "it refuses"
        case Timeout():
            return "it does not answer in time"
        case NotConnected():
            return "it cannot be reached"
    return f"its answer cannot be read ({type(error).__name__})"
