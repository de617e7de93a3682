"""Check settings that may be valid one by one, but do not fit together or are not safe."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.conf import settings
from django.core.checks import Tags, run_checks

from hub.doctor.result import Result
from hub.local.host_names import THIS_MACHINE

ALL_ADDRESSES = frozenset({"0.0.0.0", "::"})
HOST_NAME = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\]", re.ASCII)  # as Django compares it
LEAST_DIFFERENT_CHARACTERS = 10
USE_TLS = "Put a proxy with TLS in front of the hub, and set BEHIND_TLS=true."


def check_hosts() -> Result:
    """Check that the hub accepts the host names under which it will be called."""
    public_names = list_public_names(settings.ALLOWED_HOSTS)
    for name in public_names:
        if not HOST_NAME.fullmatch(name):
            return Result(
                "wrong",
                f"ALLOWED_HOSTS: {name} is no host name, so calls under it get 400.",
                "Write names without scheme, port and path; addresses of IPv6 in brackets.",
            )
    if "*" in public_names:
        return Result(
            "wrong",
            "ALLOWED_HOSTS accepts every name: links in mails can be forged.",
            "Set ALLOWED_HOSTS to the names under which the hub is called.",
        )
    if not public_names and (settings.BEHIND_TLS or settings.HUB_HOST in ALL_ADDRESSES):
        return Result(
            "wrong",
            "ALLOWED_HOSTS has no public name: calls from other machines get 400.",
            "Set ALLOWED_HOSTS to the names under which the hub is called.",
        )
    return Result("ok", f"The hub is called {', '.join(public_names) or 'from this machine only'}.")


def check_tls() -> Result:
    """Check that calls from other machines are encrypted, and that the proxy that encrypts them is known."""
    public_names = list_public_names(settings.ALLOWED_HOSTS)
    open_names = [*public_names, *ALL_ADDRESSES.intersection([settings.HUB_HOST])]
    if open_names and not settings.BEHIND_TLS:
        return Result(
            "wrong",
            f"{open_names[0]} is called without TLS: keys and sign-in cookies can be read on the way.",
            USE_TLS,
        )
    if settings.BEHIND_TLS and not settings.TRUSTED_PROXIES:
        return Result(
            "wrong",
            "BEHIND_TLS is set, but no proxy is trusted: all people share the proxy's address and rate limits.",
            "Set TRUSTED_PROXIES to the address of the proxy.",
        )
    return Result("ok", "A proxy terminates TLS." if settings.BEHIND_TLS else "Only this machine reaches the hub.")


def check_secret_key() -> Result:
    """Check that SECRET_KEY cannot be guessed, and that nobody else can read its file."""
    if len(set(settings.SECRET_KEY)) < LEAST_DIFFERENT_CHARACTERS:
        return Result(
            "wrong",
            f"SECRET_KEY has only {len(set(settings.SECRET_KEY))} different characters: it can be guessed.",
            "Set 50 random characters, in the three steps of docs/settings.md.",
        )
    file = settings.SECRET_KEY_PATH
    if file and file.stat().st_mode & 0o077:
        return Result("wrong", f"Other users may read {file}.", f"chmod 600 {file}")
    earlier = len(settings.SECRET_KEY_FALLBACKS)
    return Result(
        "ok", f"Long and private; earlier keys that still decrypt: {earlier}." if earlier else "Long and private."
    )


def check_deployment() -> Result:
    """Run the checks of Django's `check --deploy` that are about security."""
    messages = run_checks(tags=[Tags.security], include_deployment_checks=True)
    remarks = [message for message in messages if not message.is_silenced()]
    if remarks:
        cure = "Run `manage.py check --deploy`." if settings.BEHIND_TLS else USE_TLS
        return Result("wrong", f"{remarks[0].id}: {remarks[0].msg}", remarks[0].hint or cure)
    return Result("ok", "Django's own checks found nothing.")


def list_public_names(allowed_hosts: Sequence[str]) -> list[str]:
    """Return the allowed names by which other machines reach this one."""
    return [name for name in allowed_hosts if name not in THIS_MACHINE | ALL_ADDRESSES]
