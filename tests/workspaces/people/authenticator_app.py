"""The person's authenticator app, in tests."""

from __future__ import annotations

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time


def read_code(secret: str) -> str:
    """Return what an authenticator app shows now (RFC 6238).

    The hub also accepts the codes of the half minutes before and after, so the code may be sent a little later.
    """
    _, now, _ = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, now))
