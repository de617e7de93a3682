"""A person is invited, signs in through a provider, joins, and adds a passkey. Later sign-ins ask for the passkey."""

from urllib.parse import urlsplit

from django.contrib.auth import get_user_model
from django.utils import timezone

from tests.workspaces.people.oidc_provider import ADA, CLIENT_ID, CLIENT_SECRET, run_provider
from workspaces.models import AuditEntry, Membership
from workspaces.people.sign_in.links import create_link

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


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
