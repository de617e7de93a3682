"""A small OpenID Connect provider on the loopback address: discovery, authorize, token, keys and user information.

It signs in the person that `person` names, without asking. It checks the client, the redirect address and PKCE.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, build_opener

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

START = "/account/oidc"  # where the hub sends a browser to the provider
CLIENT_ID, CLIENT_SECRET = "affidavit-hub", "provider-secret"
ADA = {"sub": "ada-17", "email": "ada@example.com", "email_verified": True, "name": "Ada"}


class Provider:
    """The state of the provider, which tests change between steps.

    claims: values that replace claims of the identity token.
    signs_with: the key that signs tokens. A test sets another key to forge tokens.
    discovery, information, token_answer: values that replace members of these answers.
    """

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.signs_with: Any = self.key
        self.person: Mapping[str, Any] = ADA
        self.claims: dict[str, Any] = {}
        self.discovery: dict[str, Any] = {}
        self.information: dict[str, Any] = {}
        self.token_answer: dict[str, Any] = {}
        self.issuer = ""
        self.requests: list[str] = []
        self._grants: dict[str, dict[str, str]] = {}

    def discover(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            **self.discovery,
        }

    def encode(self, document: Mapping[str, Any]) -> bytes:
        return json.dumps(document).encode()

    def list_keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}

    def authorize(self, query: Mapping[str, str]) -> str:
        """Return the address to which the browser is sent back."""
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert {"openid", "email"} <= set(query["scope"].split())
        code = secrets.token_urlsafe(8)
        self._grants[code] = dict(query)
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, form: Mapping[str, str], authorization: str = "") -> dict[str, Any] | None:
        """Return tokens for a code. A code is valid once. Return None if the request is not right.

        authorization: the header. The client's credentials are in it if the provider only takes them there.
        """
        credentials = (form.get("client_id"), form.get("client_secret"))
        if "client_secret_post" not in (self.discover().get("token_endpoint_auth_methods_supported") or []):
            name, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            credentials = (unquote_plus(name), unquote_plus(secret))
        grant = self._grants.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            grant is None
            or credentials != (CLIENT_ID, CLIENT_SECRET)
            or form.get("redirect_uri") != grant["redirect_uri"]
            or challenge.decode().rstrip("=") != grant["code_challenge"].rstrip("=")
        ):
            return None
        now = int(time.time())
        facts = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": grant["nonce"]}
        token = jwt.encode({**facts, **self.person, **self.claims}, self.signs_with, "RS256", headers={"kid": "one"})
        return {"access_token": "provider-access-token", "token_type": "Bearer", "id_token": token, **self.token_answer}


@contextmanager
def run_provider() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.requests.append(self.path)
            address = urlsplit(self.path)
            match address.path:
                case "/.well-known/openid-configuration" | "/new/.well-known/openid-configuration":
                    self.answer(provider.discover())
                case "/keys":
                    self.answer(provider.list_keys())
                case "/userinfo" if self.headers["Authorization"] == "Bearer provider-access-token":
                    self.answer({**provider.person, **provider.information})
                case "/authorize":
                    query = {name: values[0] for name, values in parse_qs(address.query).items()}
                    self.send_response(302)
                    self.send_header("Location", provider.authorize(query))
                    self.end_headers()
                case _:
                    self.answer({}, status=404)

        def do_POST(self) -> None:
            provider.requests.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            tokens = provider.exchange(form, self.headers.get("Authorization", ""))
            self.answer(tokens or {"error": "invalid_grant"}, status=200 if tokens else 400)

        def answer(self, document: Mapping[str, Any], status: int = 200) -> None:
            body = provider.encode(document)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def ask_provider(address):
    """Return the path of the hub to which the provider redirects the browser."""
    try:
        build_opener(_NoRedirect).open(address)
    except OSError as answer:
        return answer.headers["Location"].removeprefix("http://testserver")
    raise AssertionError("the provider did not redirect")


def sign_in(client, target="/"):
    redirect = client.get(f"{START}?next={target}")
    assert redirect.status_code == 302
    return client.get(ask_provider(redirect["Location"]))
