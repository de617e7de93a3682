"""Verify an intent against the request that carries it, check by check (contract §3, "Order").

One pipeline serves both methods: `verify` stops at the first failure, `explain` records every step.
"""

import math
import time
from collections.abc import Callable, Sequence
from secrets import token_urlsafe
from typing import Any

from affidavit._async_arguments import refuse_async
from affidavit._credentials import (
    AUDIENCE_VARIABLE,
    SECRET_VARIABLE,
    WORKSPACE_VARIABLE,
    describe_mistake,
    read_variable,
    split_secrets,
)
from affidavit._errors import AffidavitError, end_sentence
from affidavit._json import Json
from affidavit._stores.in_memory import is_in_memory

from .args import InvalidArgs, request_args
from .check_descriptions import CHECKS, Check, describe_check, skip_check
from .content_type import find_type_fault
from .envelope import Unreadable, find_signed_payload, open_envelope
from .intent import Intent, detect_version, read_intent, require_known_version
from .nonces import NonceStore
from .operation import find_v1_mismatch, find_v2_fault
from .reasons import REASONS
from .signing_key import SigningKey, build_signing_key
from .verification_attempt import Attempt

CLOCK_SKEW = 60
"""Seconds that issuedAt may lie ahead of this clock."""
DAY = 86_400

# Secrets that are tried for an unknown workspace: as many as a workspace has during a rotation. Nobody knows them.
_DECOYS = [f"gas_{token_urlsafe(32)}" for _ in range(2)]

Secrets = str | Sequence[str] | Callable[[str], Sequence[str] | None]
StepUp = Callable[[Intent, Any], bool]
_CheckFunction = Callable[[Attempt], str | None]


class IntentRejected(AffidavitError):
    """The intent is not valid for this request. Answer 403 with `reason`, one of `REASONS`.

    detail: the cause in plain words, without a secret or a value.
    intent: the intent in the header, None unless its signature and its form were right. It is for records only: do not
        act on it.
    """

    def __init__(self, reason: str, detail: str = "", intent: Intent | None = None) -> None:
        self.reason = reason
        self.detail = detail or REASONS[reason].meaning
        self.intent = intent
        super().__init__(f"{reason}: {self.detail}")


class IntentVerifier:
    """Verifies intents for one audience, and for one workspace or all workspaces of a hub. Threads may share it.

    secrets: the signing secret, or several during a rotation: a list, or one text with commas between them. It can also
        be a callable that takes the workspace (`tenantId`) and returns its secrets, or None for an unknown workspace.
        The callable is called for each intent. If it takes longer for workspaces that exist, a stranger can find out
        which workspaces exist. The verifier itself takes the same time for every workspace.
    workspace: the only workspace that is served. A hub passes None, and a callable for `secrets`. Then the header names
        the workspace. An intent for an unknown workspace is rejected with `bad-signature`, after the same time.
    audience: the exact audience of this API.
    nonces: the store of used nonces, which all workers share.
    max_lifetime: the longest lifetime in seconds: more than 0, at most a day.
    accept_v1: whether version 1 passes, or the Unix time until which it passes.
    minimum_version: the lowest version that passes on a route without a minimum of its own: 1 or 2.
    step_up: a callable that takes the intent and the request, and returns whether the stronger verification has run.
    now: the clock, in Unix seconds. While it returns no finite time, nothing passes (`expired` or `not-yet-valid`).

    Without `secrets`, `workspace` or `audience`, the environment variables AFFIDAVIT_SIGNING_SECRET,
    AFFIDAVIT_WORKSPACE (unless `secrets` is a callable) and AFFIDAVIT_AUDIENCE give their values.

    Raises ValueError:
    - without a secret, a workspace (unless `secrets` is a callable) or an audience;
    - for a secret that is short or holds white space;
    - for a value whose prefix is that of something else, such as a key in place of a secret;
    - for a `max_lifetime`, an `accept_v1` or a `minimum_version` that is none of the values above;
    - for a `step_up` that is async.
    """

    def __init__(
        self,
        *,
        secrets: Secrets | None = None,
        workspace: str | None = None,
        audience: str | None = None,
        nonces: NonceStore,
        max_lifetime: float = DAY,
        accept_v1: bool | float = True,
        minimum_version: int = 1,
        step_up: StepUp | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not 0 < max_lifetime <= DAY:
            raise ValueError("max_lifetime is a number of seconds, more than 0 and at most a day")
        require_known_version(minimum_version)
        refuse_async("step_up", step_up)
        secrets, self.workspace, self.audience = _complete_facts(secrets, workspace, audience)
        self.max_lifetime = max_lifetime
        self._find_secrets = secrets if callable(secrets) else None
        self._fixed_keys = () if callable(secrets) else _build_fixed_keys(secrets)
        self._nonces = nonces
        self._v1_until = _read_v1_end(accept_v1)
        self._minimum_version = minimum_version
        self._step_up = step_up
        self._now = now
        self._checks: tuple[_CheckFunction, ...] = (
            self._check_presence,
            self._check_decoding,
            self._check_signature,
            self._check_payload,
            self._check_time,
            self._check_workspace,
            self._check_audience,
            self._check_operation,
            self._check_arguments,
            self._check_step_up,
            self._check_nonce,
        )

    @property
    def is_in_memory(self) -> bool:
        """Return whether `verify` waits for nothing outside this process and calls no function of the host."""
        return self._find_secrets is None and self._step_up is None and is_in_memory(self._nonces)

    def verify(
        self,
        header: str | None,
        method: str,
        path: str,
        query: str = "",
        body: bytes = b"",
        content_type: str | None = None,
        *,
        operation: str | None = None,
        minimum_version: int | None = None,
        request: Any = None,
        raw_path: str | None = None,
        content_encoding: str | None = None,
        framework_reads_body: bool = False,
    ) -> Intent:
        """Verify the intent of a request, burn its nonce, and return the intent.

        path: the decoded path as it was routed, mount prefix included.
        query: the raw query, without the question mark.
        operation: the exact operation that the view declares, if calls come over another transport than plain HTTP. It
            is verified instead of method and path.
        minimum_version: the lowest version that passes on this route; None for the minimum of the verifier.
        request: the object that `step_up` gets.
        raw_path: the path before decoding, if the server shows it.
        content_encoding: the value of Content-Encoding; several are joined by commas.
        framework_reads_body: whether the handler gets arguments that a framework reads out of the body by its
            Content-Type. Then a type by which frameworks read different ones is `args-mismatch`.

        Raises IntentRejected, and StoreUnavailable (answer 503) when the nonce cannot be looked up.
        """
        attempt = Attempt(
            header=header or "",
            method=method.upper(),
            path=path,
            query=query,
            body=body,
            content_type=content_type,
            content_encoding=content_encoding,
            raw_path=raw_path,
            declared_operation=operation,
            minimum_version=minimum_version,
            request=request,
            now=self._now(),
            framework_reads_body=framework_reads_body,
        )
        for check in self._checks:
            reason = check(attempt)
            if reason is not None:
                raise IntentRejected(reason, attempt.detail, attempt.known_intent)
        return attempt.intent

    def explain(
        self,
        header: str | None,
        method: str,
        path: str,
        query: str = "",
        body: bytes = b"",
        content_type: str | None = None,
        *,
        operation: str | None = None,
        minimum_version: int | None = None,
        request: Any = None,
        raw_path: str | None = None,
        content_encoding: str | None = None,
    ) -> list[Check]:
        """Return every check in order, with both sides of each comparison.

        This takes the arguments of `verify` and burns no nonce.

        The first failed check has the reason that `verify` would raise. Later checks run as well, if they can, on the
        unproven content of the header, because a request often fails for several reasons.
        """
        attempt = Attempt(
            header=header or "",
            method=method.upper(),
            path=path,
            query=query,
            body=body,
            content_type=content_type,
            content_encoding=content_encoding,
            raw_path=raw_path,
            declared_operation=operation,
            minimum_version=minimum_version,
            request=request,
            now=self._now(),
            dry_run=True,
        )
        steps: list[Check] = []
        can_go_on = True
        for name, check in zip(CHECKS, self._checks, strict=True):
            if not can_go_on:
                steps.append(skip_check(name))
                continue
            attempt.detail = ""
            reason = check(attempt)
            steps.append(describe_check(name, reason, attempt, self.workspace, self.audience))
            can_go_on = reason is None or _assume_passed(name, attempt)
        return steps

    def _check_presence(self, attempt: Attempt) -> str | None:
        return None if attempt.header else "missing-header"

    def _check_decoding(self, attempt: Attempt) -> str | None:
        try:
            attempt.envelope = open_envelope(attempt.header)
        except Unreadable as fault:
            return attempt.fail("malformed", end_sentence(str(fault)))
        return None

    def _check_signature(self, attempt: Attempt) -> str | None:
        payload = find_signed_payload(attempt.envelope, self._find_keys(attempt.envelope.payload.get("tenantId")))
        if payload is None:
            return "bad-signature"
        attempt.payload = payload
        return None

    def _find_keys(self, tenant_id: Json) -> Sequence[SigningKey]:
        """Return the keys to try. Decoys are added to looked-up keys, so that each workspace takes the same time."""
        if self._find_secrets is None:
            return self._fixed_keys
        owner = tenant_id if self.workspace is None else self.workspace
        secrets = list((self._find_secrets(owner) if isinstance(owner, str) else None) or _DECOYS)
        secrets += _DECOYS[len(secrets) :]
        return [build_signing_key(secret) for secret in secrets]

    def _check_payload(self, attempt: Attempt) -> str | None:
        version = detect_version(attempt.payload)
        if version is None:
            return attempt.fail("unsupported-version", "The payload is of neither version.")
        if version < (attempt.minimum_version or self._minimum_version):
            return attempt.fail("unsupported-version", "This route accepts version 2 only.")
        if version == 1 and attempt.now > self._v1_until:
            return attempt.fail("unsupported-version", "The window for version 1 is closed.")
        try:
            attempt.intent = read_intent(attempt.payload, version)
        except Unreadable as fault:
            return attempt.fail("malformed", end_sentence(str(fault)))
        attempt.intent.signed_with = attempt.envelope.signed_with
        return None

    def _check_time(self, attempt: Attempt) -> str | None:
        intent = attempt.intent
        if not attempt.now <= intent.expires_at:  # written so that it also fails for a clock that says NaN
            return "expired"
        if intent.expires_at < intent.issued_at:  # valid at no moment, whatever the leeway for clocks
            return attempt.fail("expired", "The intent expires before it was issued.")
        if intent.issued_at > attempt.now + CLOCK_SKEW:
            return "not-yet-valid"
        return "lifetime-too-long" if intent.expires_at - intent.issued_at > self.max_lifetime else None

    def _check_workspace(self, attempt: Attempt) -> str | None:
        if self.workspace is None or attempt.payload["tenantId"] == self.workspace:
            return None
        return "tenant-mismatch"

    def _check_audience(self, attempt: Attempt) -> str | None:
        intent = attempt.intent
        return None if intent.version == 1 or intent.audience == self.audience else "audience-mismatch"

    def _check_operation(self, attempt: Attempt) -> str | None:
        if attempt.intent.version == 1:
            return find_v1_mismatch(attempt)
        fault = find_v2_fault(attempt)
        return None if fault is None else attempt.fail("operation-mismatch", fault)

    def _check_arguments(self, attempt: Attempt) -> str | None:
        intent = attempt.intent
        if intent.version == 1:
            return None
        try:
            args = request_args(
                attempt.body, attempt.content_type, attempt.query, content_encoding=attempt.content_encoding
            )
        except InvalidArgs as fault:
            return attempt.fail("args-mismatch", end_sentence(str(fault)))
        attempt.args_hash = args.hash
        if args.hash != intent.args_hash:
            return "args-mismatch"
        if attempt.framework_reads_body and attempt.body:
            type_fault = find_type_fault(attempt.body, attempt.content_type)
            if type_fault is not None:
                return attempt.fail("args-mismatch", type_fault)
        intent.args = args.value
        return None

    def _check_step_up(self, attempt: Attempt) -> str | None:
        intent = attempt.intent
        if not intent.requires_step_up:
            return None
        if self._step_up is None:
            return attempt.fail("step-up-required", "This verifier has no step-up gate.")
        return None if self._step_up(intent, attempt.request) else "step-up-required"

    def _check_nonce(self, attempt: Attempt) -> str | None:
        intent = attempt.intent
        nonce = intent.nonce
        if nonce is None:
            return None
        if attempt.dry_run:
            return "replayed" if self._nonces.is_burnt(intent.workspace, nonce) else None
        is_first_use = self._nonces.burn(intent.workspace, nonce, intent.expires_at, now=attempt.now)
        return None if is_first_use else "replayed"


def _assume_passed(name: str, attempt: Attempt) -> bool:
    """Give an attempt the value that the failed check `name` would have set; return whether later checks can be run."""
    if name in ("presence", "decoding"):
        return False
    if name == "signature":
        attempt.payload = attempt.envelope.payload
    elif name == "payload":
        version = detect_version(attempt.payload)
        if version is None:
            return False
        try:
            attempt.intent = read_intent(attempt.payload, version)
        except Unreadable:
            return False
    return True


def _complete_facts(
    secrets: Secrets | None, workspace: str | None, audience: str | None
) -> tuple[Secrets, str | None, str]:
    """Return secrets, workspace and audience, read from the environment where they were not given.

    Raises ValueError if one is missing, or is something else by its prefix.
    """
    secrets = read_variable(None, SECRET_VARIABLE) or "" if secrets is None else secrets
    workspace = workspace if callable(secrets) else read_variable(workspace, WORKSPACE_VARIABLE)
    audience = read_variable(audience, AUDIENCE_VARIABLE)
    _refuse_mistakes(secrets, workspace, audience)
    if not audience or workspace == "":
        raise ValueError("a verifier needs its audience and its workspace, as shown when the workspace was made")
    if workspace is None and not callable(secrets):
        raise ValueError("a verifier needs its workspace, or a callable that finds the secrets of every workspace")
    return secrets, workspace, audience


def _refuse_mistakes(secrets: Secrets, workspace: str | None, audience: str | None) -> None:
    """Raise ValueError for a value whose prefix belongs to another kind of value. No message repeats the value."""
    signing_secrets = () if callable(secrets) else _list_fixed(secrets)
    values: list[tuple[str, str, str | None]] = [("secrets", "gas_", secret) for secret in signing_secrets]
    values += [("workspace", "ws_", workspace), ("audience", "urn:affidavit:", audience)]
    for name, prefix, value in values:
        if isinstance(value, str) and (mistake := describe_mistake(value, prefix)):
            raise ValueError(f"{name}: {mistake}")


def _list_fixed(secrets: str | Sequence[str]) -> Sequence[str]:
    return split_secrets(secrets) if isinstance(secrets, str) else secrets


def _read_v1_end(accept_v1: bool | float) -> float:
    if isinstance(accept_v1, bool):
        return math.inf if accept_v1 else -math.inf
    if math.isnan(accept_v1):
        raise ValueError("accept_v1 is True, False or a Unix time")
    return accept_v1


def _build_fixed_keys(secrets: str | Sequence[str]) -> tuple[SigningKey, ...]:
    keys = tuple(build_signing_key(secret) for secret in _list_fixed(secrets))
    if not keys:
        raise ValueError("a verifier needs at least one signing secret")
    return keys
