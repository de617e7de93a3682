"""Where signing in and signing out lead: the address in `?next=`, or "/"."""

from __future__ import annotations

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme


def find_next_address(request: HttpRequest) -> str:
    """Return where to go next: `next` if it is an address of this hub, else "/"."""
    address = request.POST.get("next") or request.GET.get("next") or "/"
    is_safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if is_safe else "/"
