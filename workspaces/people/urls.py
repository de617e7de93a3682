"""Signing in and out, accounts, second factors and invitations.

Only those pages of allauth that are listed here can be reached; each of them has a template of ours.
"""

from allauth.account import views as passwords
from allauth.mfa.base import views as second_factor
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.contrib.auth.decorators import login_required
from django.urls import path, re_path
from django.views.generic import RedirectView

from workspaces.people.account_page import account
from workspaces.people.invitations import views as invitations
from workspaces.people.second_factors.pages import second_factors, with_readable_codes
from workspaces.people.sign_in import views as sign_in
from workspaces.people.single_sign_on import views as single_sign_on
from workspaces.people.single_sign_on.provider_adapter import OIDC_PROVIDER_ID
from workspaces.people.ways_in import with_passwords

OIDC = {"provider_id": OIDC_PROVIDER_ID}
FACTOR = "account/second-factor"

urlpatterns = [
    path("sign-in", sign_in.sign_in, name="account_login"),
    path("sign-in/<str:token>", sign_in.sign_in_by_link, name="sign-in-by-link"),
    path("sign-out", sign_in.sign_out, name="account_logout"),
    path("invitations/<str:token>", invitations.invitation, name="invitation"),
    path("account", account, name="account"),
    path("account/invitations/<int:pk>", invitations.accept_own_invitation, name="accept-invitation"),
    path("account/oidc", single_sign_on.sign_in_by_oidc, OIDC, name="openid_connect_login"),
    path("account/oidc/callback", single_sign_on.oidc_callback, OIDC, name="openid_connect_callback"),
    path("account/inactive", passwords.account_inactive, name="account_inactive"),
    path("account/confirm", with_passwords(passwords.reauthenticate), name="account_reauthenticate"),
    path("account/password", with_passwords(passwords.password_change), name="account_change_password"),
    path("account/password/set", with_passwords(passwords.password_set), name="account_set_password"),
    path("account/password/reset", with_passwords(passwords.password_reset), name="account_reset_password"),
    path("account/password/reset/sent", passwords.password_reset_done, name="account_reset_password_done"),
    path(
        "account/password/reset/done",
        passwords.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^account/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)$",
        with_passwords(passwords.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path(FACTOR, second_factors, name="mfa_index"),
    path(f"{FACTOR}/sign-in", second_factor.authenticate, name="mfa_authenticate"),
    path(f"{FACTOR}/confirm", second_factor.reauthenticate, name="mfa_reauthenticate"),
    path(f"{FACTOR}/app/add", login_required(totp.activate_totp), name="mfa_activate_totp"),
    path(f"{FACTOR}/app/remove", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path(f"{FACTOR}/codes", with_readable_codes(recovery_codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        f"{FACTOR}/codes/new",
        login_required(recovery_codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path(
        f"{FACTOR}/codes/download",
        with_readable_codes(recovery_codes.download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
    path(f"{FACTOR}/passkeys", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),
    path(f"{FACTOR}/passkeys/add", login_required(passkeys.add_webauthn), name="mfa_add_webauthn"),
    path(f"{FACTOR}/passkeys/confirm", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path(f"{FACTOR}/passkeys/<int:pk>/remove", login_required(passkeys.remove_webauthn), name="mfa_remove_webauthn"),
    path(f"{FACTOR}/passkeys/<int:pk>/rename", login_required(passkeys.edit_webauthn), name="mfa_edit_webauthn"),
]
