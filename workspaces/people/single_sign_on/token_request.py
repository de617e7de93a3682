"""Ask for a person's consent, and exchange the code for tokens, as RFC 6749 and OpenID Connect Discovery say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from requests import Response

from workspaces.people.single_sign_on.provider_requests import open_session

MAX_REASON = 200  # characters of the provider's own words in the log


class ProviderClient(OAuth2Client):  # type: ignore[misc]  # allauth has no types
    """The requests of the code flow. allauth's own lose the query of an address, and log whole answers with tokens."""

    def get_redirect_url(self, authorization_url: str, scope: Iterable[str], extra_params: Mapping[str, str]) -> str:
        """Return the address at the provider, with the parameters that its own address already has (RFC 6749, 3.1)."""
        own_parameters = parse_qsl(urlsplit(authorization_url).query, keep_blank_values=True)
        address = authorization_url.partition("?")[0]
        return str(super().get_redirect_url(address, scope, {**dict(own_parameters), **extra_params}))

    def get_access_token(self, code: str, pkce_code_verifier: str | None = None) -> dict[str, str]:
        """Return the tokens for a code. Raises OAuth2Error, RequestException."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.callback_url}
        credentials = None
        if pkce_code_verifier:
            form["code_verifier"] = pkce_code_verifier
        if self.basic_auth and self.consumer_secret:
            credentials = (quote_plus(self.consumer_key), quote_plus(self.consumer_secret))  # RFC 6749, 2.3.1
        else:
            form["client_id"] = self.consumer_key
            form |= {"client_secret": self.consumer_secret} if self.consumer_secret else {}
        with open_session() as session:
            # A redirect would send the client's secret to another address.
            response = session.post(self.access_token_url, data=form, auth=credentials, allow_redirects=False)
            if response.status_code >= 500:
                response.raise_for_status()
            answer = _read_object(response)
        tokens = {name: answer[name] for name in ("access_token", "id_token") if isinstance(answer.get(name), str)}
        if response.status_code != 200 or len(tokens) < 2:
            reason = quote_reason(answer) or " without the two tokens"
            raise OAuth2Error(f"the token endpoint answered {response.status_code}{reason}")
        return tokens


def _read_object(response: Response) -> Mapping[str, Any]:
    """Return the JSON object of an answer; an empty one if the body is none."""
    try:
        answer = response.json()
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def quote_reason(answer: Mapping[str, Any]) -> str:
    """Return the members in which a provider says why it refused (RFC 6749, 4.1.2.1 and 5.2); never a token."""
    reasons = [answer[name] for name in ("error", "error_description") if isinstance(answer.get(name), str)]
    return "".join(f": {reason}" for reason in reasons)[:MAX_REASON]
