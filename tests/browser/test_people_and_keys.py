"""A person is invited, signs in, gets a second factor, makes and revokes a key; a secret is rotated under traffic."""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from affidavit import IntentRejected, IntentVerifier, MemoryNonces
from tests.workspaces.people.authenticator_app import read_code
from tests.workspaces.people.oidc_provider import ADA, CLIENT_ID, CLIENT_SECRET, Provider, run_provider
from workspaces.create import NewWorkspace
from workspaces.models import AuditEntry, Membership
from workspaces.people.sign_in.links import create_link

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
OUTCOMES = {"outcomes": [{"conversationId": "conv_1", "outcomeKey": "purchase"}]}


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with run_provider() as provider:
        settings.OIDC_ISSUER, settings.OIDC_NAME = provider.issuer, "Example login"
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        yield provider


def post(address: str, body: Any, key: str) -> tuple[int, Any]:
    headers = {"x-service-api-key": key, "content-type": "application/json"}
    request = urllib.request.Request(address, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("link", name=re.compile("Example login")).click()
    accept = page.get_by_role("button", name=re.compile("^Accept"))
    if accept.count():
        accept.click()


@pytest.mark.usefixtures("provider")
def test_from_the_invitation_to_the_revoked_key(
    new_tab: Any, chromium: Browser, live_server: Any, start_of_pages: str, workspace: NewWorkspace
) -> None:
    admin = new_tab().open(f"{start_of_pages}/members")
    admin.get_by_label("E-mail").fill(str(ADA["email"]))
    admin.locator("input[value=admin]").check()
    admin.get_by_role("button", name="Invite", exact=True).click()
    link = admin.inner_text("#invitation-link")

    context = chromium.new_context()
    page = context.new_page()
    join(page, link)
    page.goto(f"{live_server.url}/account/second-factor/app/add")
    page.get_by_label("Code").fill(read_code(page.inner_text("#totp-secret")))
    page.get_by_role("button", name="Add").click()
    page.wait_for_load_state()

    page.goto(f"{live_server.url}{start_of_pages}/keys")
    page.get_by_label("Name").fill("orders-api")
    page.locator("input[name=scopes][value=report]").check()
    page.get_by_role("button", name="Create key").click()
    key = page.inner_text("#new-key")
    outcomes = f"{live_server.url}/api/conversation-outcomes"
    assert post(outcomes, OUTCOMES, key)[0] == 200
    assert post(f"{live_server.url}/api/intents", {}, key)[1]["code"] == "scope-missing"
    page.reload()
    assert key not in page.content()

    page.get_by_role("link", name=f"Revoke {key[:12]}").click()
    page.get_by_role("button", name="Revoke now").click()
    assert post(outcomes, OUTCOMES, key)[1]["code"] == "invalid-api-key"

    page.goto(f"{live_server.url}{start_of_pages}/audit")
    log = page.inner_text("main")
    for action in ("member invited", "member joined", "second factor", "key created", "key revoked"):
        assert action in log, action
    assert key[:12] in log
    assert key not in page.content()
    context.close()


class Traffic:
    """A loop that mints intents and verifies them in the backend. It records each call that fails."""

    def __init__(self, base: str, created: NewWorkspace) -> None:
        self.base, self.created = base, created
        self.calls = 0
        self.failures: list[str] = []
        self.use(created.signing_secret)

    def use(self, *secrets: str) -> None:
        """Configure the backend with these secrets, the newest first."""
        audience = self.created.workspace.environments.get(name="production").audience
        self.verifier = IntentVerifier(
            secrets=list(secrets), workspace=self.created.workspace.id, audience=audience, nonces=MemoryNonces()
        )

    def call(self) -> None:
        body = {"sub": "user_1", "operation": "GET /orders", "args": {}}
        status, minted = post(f"{self.base}/api/intents", body, self.created.full_key)
        if status != 201:
            self.failures.append(f"minting: {status}")
            return
        try:
            self.verifier.verify(minted["header"], "GET", "/orders")
        except IntentRejected as rejected:
            self.failures.append(rejected.reason)
        self.calls += 1

    @contextmanager
    def run_in_background(self) -> Iterator[Callable[[], None]]:
        """Run the loop in the background; yield a function that waits for ten more calls."""
        stop = threading.Event()
        progress = threading.Condition()

        def loop() -> None:
            while not stop.is_set():
                self.call()
                with progress:
                    progress.notify_all()

        def wait() -> None:
            goal = self.calls + 10
            with progress:
                assert progress.wait_for(lambda: self.calls >= goal or self.failures, timeout=60)

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        try:
            yield wait
        finally:
            stop.set()
            thread.join(60)


def test_a_secret_is_rotated_while_traffic_flows_and_no_call_is_rejected(
    new_tab: Any, live_server: Any, start_of_pages: str, workspace: NewWorkspace
) -> None:
    page = new_tab().open(f"{start_of_pages}/secrets")
    traffic = Traffic(live_server.url, workspace)
    with traffic.run_in_background() as wait:
        wait()
        page.get_by_role("button", name="Prepare a secret").click()
        new_secret = page.inner_text("#new-secret")
        wait()
        traffic.use(new_secret, workspace.signing_secret)
        wait()
        page.get_by_role("link", name=re.compile("^Activate")).click()
        page.get_by_role("button", name="Activate now").click()
        page.wait_for_load_state("networkidle")
        wait()
        traffic.use(new_secret)
        wait()
        page.get_by_role("link", name=f"Revoke {workspace.signing_secret[:8]}").click()
        page.get_by_role("button", name=re.compile("Revoke")).click()
        wait()
    assert traffic.failures == []
    page.goto(f"{live_server.url}{start_of_pages}/audit")
    log = page.inner_text("main")
    for action in ("signing secret prepared", "signing secret rotated", "signing secret revoked"):
        assert action in log, action
    assert new_secret not in page.content()


@pytest.mark.parametrize("javascript", [True, False])
def test_on_a_phone_a_new_key_is_in_sight_once_it_is_created(new_tab, start_of_pages, javascript):
    page = new_tab(width=390, javascript=javascript).open(f"{start_of_pages}/keys")
    page.locator("#create").get_by_label("Name").fill("from a phone")
    page.locator("#create").get_by_label("report").check()
    page.locator("#create").get_by_role("button", name="Create key").click()
    expect(page.locator("#new-key")).to_be_in_viewport()


def test_an_invited_person_signs_in_through_the_provider_and_adds_a_passkey(
    chromium, live_server, transactional_db, workspace, settings
):
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET, settings.OIDC_NAME = CLIENT_ID, CLIENT_SECRET, "Example login"
    base = live_server.url.replace("127.0.0.1", "localhost")  # passkeys need a host name, not an IP address
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    with run_provider() as provider:
        settings.OIDC_ISSUER = provider.issuer
        link = invite_by_page(chromium, base, ADA["email"])
        page = chromium.new_context().new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(link)
        page.get_by_role("link", name="Continue with Example login").click()
        page.get_by_role("button", name="Accept as ada@example.com").click()
        page.wait_for_url("**/w/lumen-books/production/overview")
        assert Membership.objects.get().role == "admin"

        devices = page.context.new_cdp_session(page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        page.goto(f"{base}/account/second-factor/passkeys/add")
        page.get_by_role("button", name="Add").click()
        page.wait_for_url("**/account/second-factor/codes")

        page.get_by_role("button", name="Sign out").first.click()
        page.get_by_role("link", name="Continue with Example login").click()
        page.wait_for_url("**/account/second-factor/sign-in")
        page.get_by_role("button", name="Use a passkey").click()
        page.wait_for_url("**/w/lumen-books/production/overview")
    assert complaints == []
    actions = set(AuditEntry.objects.filter(actor="ada@example.com").values_list("action", flat=True))
    assert {"member joined", "signed in", "signed out", "second factor added"} <= actions
    page.context.close()


def test_a_passkey_that_cannot_be_added_says_why(chromium, live_server, transactional_db, workspace, settings):
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    operator = get_user_model().objects.create_superuser("operator")
    for host, words in (
        ("127.0.0.1", "Passkeys need HTTPS and a host name, or localhost."),
        ("localhost", "This device has a passkey of your account already."),
    ):
        base = f"http://{host}:{urlsplit(live_server.url).port}"
        page = chromium.new_context().new_page()
        page.goto(f"{base}/sign-in/{create_link(operator, now=timezone.now())}")
        page.get_by_role("button", name="Sign in").click()
        devices = page.context.new_cdp_session(page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        page.goto(f"{base}/account/second-factor/passkeys/add")
        page.get_by_role("button", name="Add").click()
        if host == "localhost":
            page.wait_for_url("**/account/second-factor/codes")
            page.goto(f"{base}/account/second-factor/passkeys/add")
            page.get_by_role("button", name="Add").click()
        fault = page.locator("[data-passkey-fault]")
        fault.wait_for(state="visible", timeout=5_000)
        assert fault.inner_text() == words
        page.context.close()


def invite_by_page(chromium, base, email):
    """Invite as an operator does, and return the link that the page shows."""
    operator = get_user_model().objects.create_superuser("operator")
    page = chromium.new_context().new_page()
    page.goto(f"{base}/sign-in/{create_link(operator, now=timezone.now())}")
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{base}/w/lumen-books/production/members")
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("admin").check()
    page.get_by_role("button", name="Invite").click()
    link = page.inner_text("#invitation-link")
    page.context.close()
    return link
