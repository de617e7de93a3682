"""The errors of signing in, and of changing members."""

from __future__ import annotations

from wire.errors import DomainError


class TooManyAttempts(DomainError):
    """Too many attempts to sign in, from one address or for one account."""

    code = "too-many-attempts"

    def __init__(self, retry_after: int = 60) -> None:
        minutes = max(1, retry_after // 60)
        super().__init__(f"Wait {minutes} {'minute' if minutes == 1 else 'minutes'}, then try again.")
        self.retry_after = retry_after


class SignInRefused(DomainError):
    """The provider vouches for somebody whom this hub does not let in."""

    code = "sign-in-refused"


class SignInFailed(DomainError):
    """Signing in through the provider was not completed."""

    code = "sign-in-failed"


class ProviderUnavailable(DomainError):
    """The OpenID Connect provider does not answer, or its answer is not valid."""

    code = "sign-in-unavailable"
    detail = "The sign-in service cannot be reached at the moment. Try again in a minute."
    retry_after = 60


class MembershipFault(DomainError):
    """A change of members that cannot be made; the detail says why and what to do."""

    code = "membership-fault"
