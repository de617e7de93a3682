"""The reasons why an intent is rejected: a closed set (contract §3).

Pages and the command line use this table. The hub's docs/contract.md lists the same reasons; a test compares the two.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason, in plain words for the person who has to make the call pass.

    slug: the stable string on the wire.
    check: the step of verification that gives it, one of `CHECKS`.
    later_check: a later step that can give it too; "" for all reasons but one.
    """

    slug: str
    title: str
    meaning: str
    usual_fix: str
    check: str
    later_check: str = ""


_TABLE = (
    Reason(
        "missing-header",
        "No intent header",
        "The request came without the header X-Service-Intent, or with an empty one.",
        "If the call did come from the assistant, look for a proxy or gateway that drops unknown headers. "
        "If it came from elsewhere, it is refused as it should be.",
        "presence",
    ),
    Reason(
        "malformed",
        "The header cannot be read",
        "The header is not base64url of a JSON object with exactly a payload and a signature, is over 8 KiB, "
        "or a field of the payload is missing or of the wrong type.",
        "Pass the header on unchanged: it must not be cut, decoded, quoted or joined with another. If you "
        "sign intents yourself, look for duplicate names, missing fields and times in different units.",
        "decoding",
        "payload",
    ),
    Reason(
        "bad-signature",
        "The signature does not match",
        "No secret that is in force for this workspace gives the signature of this payload: the secret "
        "differs, or the payload was changed after signing.",
        "Compare the secret that the backend loads with the one that was shown when it was made, with the workspace or "
        "at a rotation; the hub shows each only once. An old secret after a rotation, one of another workspace, or a "
        "cut-off copy are the usual causes.",
        "signature",
    ),
    Reason(
        "unsupported-version",
        "This version is not accepted",
        "The intent is neither of version 2 nor, while the dual-accept window is open, of version 1; or this "
        "route asks for a newer version.",
        "Have the intent minted as version 2. While callers still send version 1, keep the window open, or "
        "lower the minimum version of this route.",
        "payload",
    ),
    Reason(
        "expired",
        "The intent has expired",
        "The time is past the intent's expiresAt, or the intent expires before it was issued.",
        "Verify when the call arrives, not later from a queue, and check this server's clock. A retried "
        "delivery needs a freshly minted intent.",
        "time",
    ),
    Reason(
        "not-yet-valid",
        "Issued in the future",
        "The intent says that it was issued more than 60 seconds from now.",
        "Set the clocks of the signer and of this server by NTP; one of them is wrong.",
        "time",
    ),
    Reason(
        "lifetime-too-long",
        "Valid for too long",
        "The time from issuedAt to expiresAt is longer than this verifier allows.",
        "Mint with a shorter lifetime (300 seconds is the default, 900 the most), or raise the verifier's "
        "max_lifetime if you meant to allow it.",
        "time",
    ),
    Reason(
        "tenant-mismatch",
        "Meant for another workspace",
        "The signature is right, but the intent names a workspace other than the one this verifier serves.",
        "Compare the verifier's workspace with tenantId; two workspaces should never share a secret.",
        "workspace",
    ),
    Reason(
        "audience-mismatch",
        "Meant for another API",
        "The intent is bound to an audience other than this backend's own.",
        "Mint for the environment that the call goes to: often a staging backend is called with production's intent, "
        "or the other way round. If the intent was meant for this backend, set its verifier's audience to that of its "
        "environment, which the hub's page Intent inspector shows.",
        "audience",
    ),
    Reason(
        "operation-mismatch",
        "Another operation was signed",
        "The method and path of the request, or its query string where one was signed or has to be, differ "
        "from the signed operation; or the path holds something that two servers could read differently.",
        "Compare both sides: a mount prefix that a proxy strips or adds, a trailing slash and upper or lower "
        "case all count. With both a body and a query, the operation has to carry the exact query string.",
        "operation",
    ),
    Reason(
        "method-mismatch",
        "Another method was signed",
        "The method of the request differs from the method of the version 1 intent.",
        "Call with the method that was signed; look for a redirect or a proxy that turns POST into GET.",
        "operation",
    ),
    Reason(
        "path-mismatch",
        "Another path was signed",
        "The path of the request differs from the path of the version 1 intent, or holds something that two "
        "servers could read differently.",
        "Compare both sides: a mount prefix that a proxy strips or adds and a trailing slash both count.",
        "operation",
    ),
    Reason(
        "args-mismatch",
        "Other arguments were signed",
        "The hash of the arguments in this request differs from argsHash, or the body has no canonical form: "
        "it is not strict JSON, holds a number that a double cannot carry, or is compressed.",
        "Send exactly the arguments that were signed, and hash the body as it was received, before anything "
        "adds defaults. Send integers beyond 2^53 as strings.",
        "arguments",
    ),
    Reason(
        "step-up-required",
        "A stronger verification is missing",
        "The intent asks for step-up, and this backend's stronger verification of the user has not passed.",
        "Take the user through the stronger verification, then have the call made again; and see that the "
        "verifier is given a step_up callable.",
        "step-up",
    ),
    Reason(
        "replayed",
        "The intent was used before",
        "This nonce has been accepted already: an intent passes once.",
        "Mint a new intent for every delivery, with the same toolCallId for a retry. Look for a proxy that "
        "repeats requests, or for two layers of this backend that both verify.",
        "nonce",
    ),
)

REASONS: Mapping[str, Reason] = MappingProxyType({reason.slug: reason for reason in _TABLE})
"""Every reason by its slug, in the order of the checks. The set is closed."""
