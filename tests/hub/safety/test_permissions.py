"""Permissions: every address of the URL configuration is called by every kind of caller.

An address that the table below does not name fails the test.
"""

from __future__ import annotations

import copy
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from affidavit import make_key, mint_intent
from catalog.ingest.fold import fold_reports
from catalog.models import Drift, Operation
from intents.models import Rejection
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from workspaces.create import NewWorkspace, create_workspace
from workspaces.keys.create import store_new_key
from workspaces.models import ApiKey, Environment, Membership

pytestmark = pytest.mark.django_db

VIEWER, EDITOR, ADMIN = Membership.ROLES
PAGE = "w/<slug:slug>/<str:environment>/"


@dataclass(frozen=True)
class Machine:
    """A POST with a key of this scope. The hub refuses sessions.

    body: builds a valid body.
    """

    scope: str
    body: Callable[[NewWorkspace], dict[str, Any]]


@dataclass(frozen=True)
class Download:
    """A GET with a key of this scope, or with a member's session and the parameter `workspace=`."""

    scope: str


@dataclass(frozen=True)
class Page:
    """A GET by a member of this role or higher. If viewers may see the page, keys may read its exports."""

    role: str = VIEWER


@dataclass(frozen=True)
class Action:
    """A POST by a member of this role or higher, and never with a key."""

    role: str = EDITOR


@dataclass(frozen=True)
class Operator:
    """An address for operators only. Others get 404, or have to sign in first."""


@dataclass(frozen=True)
class Person:
    """An address for everybody who is signed in."""


@dataclass(frozen=True)
class Anyone:
    """An address for everybody, signed in or not."""


@dataclass(frozen=True)
class OwnToken:
    """An address for callers with a special token; a session or a key is not enough."""


Rule = Machine | Download | Page | Action | Operator | Person | Anyone | OwnToken


def build_intent(created: NewWorkspace) -> str:
    audience = created.workspace.environments.get(name="production").audience
    call = {"sub": "user_1", "aud": audience, "operation": "GET /orders", "args": {}}
    return mint_intent(created.signing_secret, tenant_id=created.workspace.id, **call).header


OBSERVATION = {"method": "GET", "path": "/orders", "status": 200, "count": 1}
CONFIRMATION = {"sub": "user_1", "operation": "POST /a", "args": {}, "summary": "Order a book"}

RULES: Mapping[str, Rule] = {
    # Machines
    "api/conversations": Machine("platform", lambda _: {"conversations": [{"conversationId": "c1"}]}),
    "api/conversation-outcomes": Machine(
        "report", lambda _: {"outcomes": [{"conversationId": "c1", "outcomeKey": "purchase"}]}
    ),
    "api/witness-reports": Machine(
        "report", lambda _: {"reportId": str(uuid.uuid4()), "observations": [OBSERVATION]}
    ),
    "api/verification-reports": Machine(
        "report", lambda _: {"reportId": str(uuid.uuid4()), "verifications": [{"result": "accepted"}]}
    ),
    "api/intents": Machine("platform", lambda _: {"sub": "user_1", "operation": "GET /orders", "args": {}}),
    "api/intents/verify": Machine(
        "report", lambda created: {"header": build_intent(created), "method": "GET", "path": "/orders"}
    ),
    "api/confirmations": Machine("platform", lambda _: CONFIRMATION),
    "api/confirmations/<str:confirmation_id>/decision": Machine("confirm", lambda _: {"decision": "confirm"}),
    "api/annotations": Machine("report", lambda _: {"text": "Deploy 4.2"}),
    "api/witness-rules": Download("report"),
    "api/catalog": Download("report"),
    "api/catalog/openapi.json": Download("report"),
    "api/catalog/schemas.json": Download("report"),
    "api/catalog/tools.json": Download("report"),
    "api/catalog/mcp.json": Download("report"),
    # Pages
    **{f"{PAGE}{name}": Page() for name in (
        "overview", "catalog", "operation", "property", "drift", "change", "difference", "rules",
        "outcomes", "outcome", "conversation", "joins", "rejections", "rejection", "toolcall", "toolcalls",
        "confirmations", "inspector", "annotations", "search", "api", "glossary",
    )},
    **{f"{PAGE}{name}": Page(ADMIN) for name in (
        "keys", "refused-requests", "secrets", "environments", "members", "retention", "audit", "alerts", "deliveries",
    )},
    f"{PAGE}change/<int:pk>/acknowledgement": Action(),
    f"{PAGE}change/<int:pk>/mute": Action(),
    f"{PAGE}operation/template": Action(),
    f"{PAGE}operation/baseline": Action(),
    f"{PAGE}operation/maps": Action(),
    f"{PAGE}operation/hints": Action(),
    f"{PAGE}rules/redaction": Action(),
    f"{PAGE}rules/<slug:kind>/<int:pk>/undo": Action(),
    f"{PAGE}joins/move": Action(),
    f"{PAGE}joins/moves/<int:pk>/undo": Action(),
    f"{PAGE}confirmations/<uuid:confirmation_id>/decision": Action(),
    f"{PAGE}inspector/checks": Action(VIEWER),
    **{f"{PAGE}annotations/{name}": Action() for name in (
        "add", "<uuid:annotation_id>/change", "<uuid:annotation_id>/delete",
    )},
    f"{PAGE}shared-links": Page(EDITOR),
    f"{PAGE}shared-links/add": Action(),
    f"{PAGE}shared-links/<int:link_id>/revoke": Action(),
    f"{PAGE}keys/create": Action(ADMIN),
    f"{PAGE}keys/<int:key_id>/revoke": Action(ADMIN),
    **{f"{PAGE}secrets/{name}": Action(ADMIN) for name in ("prepare", "activate", "<int:secret_id>/revoke")},
    **{f"{PAGE}environments/{name}": Action(ADMIN) for name in (
        "create", "<str:name>/change", "<str:name>/archive", "<str:name>/restore",
    )},
    f"{PAGE}v1-window": Action(ADMIN),
    **{f"{PAGE}alerts/{name}": Action(ADMIN) for name in (
        "create", "<int:pk>/change", "<int:pk>/pause", "<int:pk>/resume", "<int:pk>/delete", "targets/create",
        "targets/<int:pk>/change", "targets/<int:pk>/rotate", "targets/<int:pk>/delete", "targets/<int:pk>/test",
    )},
    f"{PAGE}deliveries/<int:pk>/again": Action(ADMIN),
    f"{PAGE}retention/days": Action(ADMIN),
    f"{PAGE}retention/deletions": Action(ADMIN),
    f"{PAGE}members/invite": Action(ADMIN),
    f"{PAGE}members/<int:user_id>/role": Action(ADMIN),
    f"{PAGE}members/<int:user_id>/remove": Action(ADMIN),
    f"{PAGE}invitations/<int:pk>/revoke": Action(ADMIN),
    # People
    **{f"account{name}": Person() for name in (
        "", "/invitations/<int:pk>", "/confirm", "/password", "/password/set", "/second-factor",
        "/second-factor/sign-in",
        "/second-factor/confirm", "/second-factor/app/add", "/second-factor/app/remove", "/second-factor/codes",
        "/second-factor/codes/new", "/second-factor/codes/download", "/second-factor/passkeys",
        "/second-factor/passkeys/add", "/second-factor/passkeys/confirm",
        "/second-factor/passkeys/<int:pk>/remove", "/second-factor/passkeys/<int:pk>/rename",
    )},
    **{f"account/{name}": Anyone() for name in (
        "oidc", "oidc/callback", "inactive", "password/reset", "password/reset/sent", "password/reset/done",
        "password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)",
    )},
    "invitations/<str:token>": Anyone(),
    "shared/<str:token>": Anyone(),
    # The hub
    "": Person(),
    "workspaces/new/<slug:slug>": Person(),
    "workspaces/new": Operator(),
    "w/<slug:slug>/remove-sample": Operator(),
    "api/openapi.json": Anyone(),
    "api/docs": Anyone(),
    "healthz": Anyone(),
    "readyz": Anyone(),
    "metrics": OwnToken(),
    "sign-in": Anyone(),
    "sign-in/<str:token>": Anyone(),
    "sign-out": Anyone(),
}  # fmt: skip


def list_addresses() -> list[str]:
    """Return every address of the URL configuration, including the exports of pages."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for pattern in patterns:
            address = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, address)
            else:
                yield address.removeprefix("^").removesuffix("$")

    return list(walk(get_resolver().url_patterns, ""))


def find_rule(address: str) -> tuple[Rule | None, str]:
    """Return the rule of an address, and the extension if the address is the export of a page."""
    for extension in (".json", ".csv"):
        page = RULES.get(address.removesuffix(extension))
        if address.endswith(extension) and isinstance(page, Page):
            return page, extension
    return RULES.get(address), ""


ADDRESSES = list_addresses()


def test_every_address_has_a_rule():
    assert [address for address in ADDRESSES if find_rule(address)[0] is None] == []


def test_every_rule_has_an_address():
    assert [address for address in RULES if address not in ADDRESSES] == []


# --- the callers


class Callers:
    """All kinds of callers by name: browsers of people, and keys of machines."""

    def __init__(self, own: NewWorkspace, other: NewWorkspace) -> None:
        self.own, self.other = own, other
        now = timezone.now()
        workspace = own.workspace

        def issue(*scopes: str, environments: tuple[str, ...] = (), **more: Any) -> str:
            return store_new_key(workspace, ApiKey.SECRET, scopes, now=now, environment_names=environments, **more)

        revoked = issue(*ApiKey.SCOPES)
        ApiKey.objects.filter(workspace=workspace, prefix=revoked[:12]).update(revoked_at=now)
        self.keys = {
            **{f"key of {scope}": issue(scope) for scope in ApiKey.SCOPES},
            "key of all scopes": own.full_key,
            "key of staging": issue(*ApiKey.SCOPES, environments=("staging",)),
            "key of another workspace": other.full_key,
            "revoked key": revoked,
            "expired key": issue(*ApiKey.SCOPES, expires_at=now - timedelta(seconds=1)),
            "publishable key": own.publishable_key,
            "unknown key": make_key("gak_"),
            "mistyped key": "gak_" + "x" * 32,
        }
        self.people = {"nobody": Client(raise_request_exception=False), "operator": self._sign_in(is_superuser=True)}
        self.people["stranger"] = self._sign_in()
        for role in Membership.ROLES:
            self.people[role] = self._sign_in(workspace, role)
        self.people["admin of another workspace"] = self._sign_in(other.workspace, ADMIN)
        self.queries = self._find_queries()

    def _sign_in(self, workspace: Any = None, role: str = "", **facts: Any) -> Client:
        user = get_user_model().objects.create_user(f"person-{uuid.uuid4()}", **facts)
        if workspace:
            Membership.objects.create(workspace=workspace, user=user, role=role)
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return client

    def _find_queries(self) -> Mapping[str, str]:
        """Return the query of each page that shows one thing, by the name of the page. Each thing exists."""
        rejection = Rejection.objects.get(environment__workspace=self.own.workspace)
        return {
            "operation": "?method=GET&path=/orders",
            "property": "?method=GET&path=/orders&part=200",
            "outcome": "?key=purchase",
            "conversation": "?id=c1",
            "toolcall": "?id=call_1",
            "change": f"?id={Drift.objects.get().pk}",
            "rejection": f"?{urlencode({'at': rejection.occurred_at.isoformat(), 'id': rejection.pk})}",
        }


@pytest.fixture(scope="module")
def all_callers(module_rows: None, close_nonce_connections: None) -> Callers:
    now = timezone.now()
    own, other = (
        create_workspace(name, ["staging"], actor="test", now=now, with_full_key=True)
        for name in ("Lumen Books", "Other Shop")
    )
    production = own.workspace.environments.get(name="production")
    record_verifications(production, [Verification("expired", now, tool_call_id="call_1")])
    headers = {"x-service-api-key": own.full_key}
    for address in ("api/conversation-outcomes", "api/witness-reports"):
        rule = RULES[address]
        assert isinstance(rule, Machine)
        answer = Client().post(f"/{address}", rule.body(own), content_type="application/json", headers=headers)
        assert answer.status_code < 300
    fold_reports(production, now=now)
    create_drift(production)
    return Callers(own, other)


@pytest.fixture
def callers(all_callers: Callers) -> Iterator[Callers]:
    """Yield all callers. After the test their browsers get back their former cookies."""
    cookies = {name: copy.deepcopy(client.cookies) for name, client in all_callers.people.items()}
    yield all_callers
    for name, client in all_callers.people.items():
        client.cookies = cookies[name]


def create_drift(environment: Environment) -> None:
    """Store one drift change of the only operation."""
    now = timezone.now()
    Drift.objects.create(
        environment=environment, operation=Operation.objects.get(), version=1, at=now, since=now, part="200",
        kind="new", seen=1,
    )  # fmt: skip


def fill_in(address: str, callers: Callers) -> str:
    """Return an address with values for its parameters, in production of our workspace.

    The query names things that exist. The rest of the path has valid values, which need not name anything.
    """
    values = {
        "slug:slug": callers.own.workspace.slug,
        "str:environment": "production",
        "slug:kind": "template-rules",
        "int:pk": "1",
        "uuid:confirmation_id": str(uuid.uuid4()),
        "uuid:annotation_id": str(uuid.uuid4()),
        "str:token": "token",
        "str:prefix": "gak_12345678",
    }
    path = re.sub(r"\(\?P<\w+>[^)]*\)", "x", address)
    path = re.sub(r"<([^>]+)>", lambda match: values.get(match[1], "1"), path)
    name = re.sub(r"\.(json|csv)$", "", path.rsplit("/", 1)[-1])
    return f"/{path}{callers.queries.get(name, '')}"


def call_as_machine(address: str, rule: Rule, name: str, callers: Callers) -> HttpResponse:
    client = Client(raise_request_exception=False)
    headers = {"x-service-api-key": callers.keys[name]}
    if isinstance(rule, Machine):
        path = fill_in(address, callers)
        if "<str:confirmation_id>" in address:
            asked = {"x-service-api-key": callers.own.full_key}
            answer = client.post("/api/confirmations", CONFIRMATION, content_type="application/json", headers=asked)
            path = f"/api/confirmations/{answer.json()['confirmationId']}/decision"
        body = json.dumps(rule.body(callers.own))
        return client.generic("POST", path, body, content_type="application/json", headers=headers)
    if isinstance(rule, Action):
        return client.post(fill_in(address, callers), headers=headers)
    return client.get(fill_in(address, callers), headers=headers)


def code_of(response: HttpResponse) -> str:
    return response.json()["code"] if response["Content-Type"] == "application/problem+json" else ""


INVALID = {"revoked key", "expired key", "unknown key", "mistyped key"}


@pytest.mark.parametrize("address", [a for a in ADDRESSES if isinstance(find_rule(a)[0], Machine | Download)])
def test_machines_get_the_right_answer(callers, address):
    rule, _ = find_rule(address)
    answers = {name: call_as_machine(address, rule, name, callers) for name in callers.keys}
    expected = {
        **dict.fromkeys(INVALID, (401, "invalid-api-key")),
        "publishable key": (403, "publishable-key-refused"),
        **{f"key of {scope}": (403, "scope-missing") for scope in ApiKey.SCOPES if scope != rule.scope},
        "key of staging": (403, "scope-missing"),
    }
    assert {name: (answers[name].status_code, code_of(answers[name])) for name in expected} == expected
    assert answers[f"key of {rule.scope}"].status_code in (200, 201, 202), code_of(answers[f"key of {rule.scope}"])
    # Each caller decides on a confirmation of its own, and all other calls can be repeated.
    assert answers["key of all scopes"].status_code in (200, 201, 202, 403, 409)


@pytest.mark.parametrize("address", [a for a in ADDRESSES if find_rule(a)[1]])
def test_keys_read_the_pages_that_every_viewer_may_read(callers, address):
    rule, _ = find_rule(address)
    answers = {name: call_as_machine(address, rule, name, callers) for name in callers.keys}
    statuses = {name: answer.status_code for name, answer in answers.items()}
    for name in INVALID:
        assert (name, statuses[name]) == (name, 401)
    assert statuses["publishable key"] == 403
    assert statuses["key of another workspace"] == 404
    if rule.role != VIEWER:
        assert {statuses[name] for name in ("key of all scopes", "key of report")} <= {401, 403, 404}
        return
    assert statuses["key of staging"] == 403
    assert {statuses[name] for name in ("key of platform", "key of confirm")} <= {403, 404}
    no_table = {404} if address.endswith("inspector.csv") else set()
    assert statuses["key of all scopes"] in {200, 400} | no_table, code_of(answers["key of all scopes"])
    assert statuses["key of report"] == statuses["key of all scopes"]


def call_as_person(address: str, rule: Rule, name: str, callers: Callers) -> HttpResponse:
    client = callers.people[name]
    path = fill_in(address, callers)
    if isinstance(rule, Download):
        return client.get(path, {"workspace": callers.own.workspace.slug})
    if isinstance(rule, Action):
        return client.post(path)
    if isinstance(rule, Machine):
        return client.generic("POST", path, json.dumps(rule.body(callers.own)), content_type="application/json")
    return client.get(path)


def asks_to_sign_in(response: HttpResponse) -> bool:
    return response.status_code == 401 or (response.status_code == 302 and response["Location"].startswith("/sign-in"))


def is_done(response: HttpResponse) -> bool:
    """Return whether the caller was accepted, even if the target does not exist or the form is invalid."""
    return response.status_code in (200, 302, 303, 400, 404, 409, 422) and not asks_to_sign_in(response)


@pytest.mark.parametrize("address", ADDRESSES)
def test_people_get_the_right_answer(callers, address):
    rule, _ = find_rule(address)
    answers = {name: call_as_person(address, rule, name, callers) for name in callers.people}
    statuses = {name: answer.status_code for name, answer in answers.items()}
    assert [name for name, status in statuses.items() if status >= 500] == []
    match rule:
        case Machine():
            assert set(statuses.values()) == {401}
        case Download():
            assert statuses["nobody"] == 401
            assert {statuses["stranger"], statuses["admin of another workspace"]} == {404}
            assert {statuses[name] for name in (*Membership.ROLES, "operator")} == {200}
        case Page(role) | Action(role):
            assert asks_to_sign_in(answers["nobody"])
            assert {statuses["stranger"], statuses["admin of another workspace"]} == {404}
            rank = Membership.ROLES.index(role)
            assert {statuses[name] for name in Membership.ROLES[:rank]} <= {403}
            for name in (*Membership.ROLES[rank:], "operator"):
                assert is_done(answers[name]), (name, statuses[name])
            if isinstance(rule, Page):
                no_table = {404} if address.endswith("inspector.csv") else set()
                assert {statuses[name] for name in Membership.ROLES[rank:]} <= {200, 302, 400} | no_table
        case Operator():
            assert asks_to_sign_in(answers["nobody"]) or statuses["nobody"] == 404
            assert {status for name, status in statuses.items() if name not in ("nobody", "operator")} == {404}
            assert statuses["operator"] in (200, 404)  # 404: this workspace is not the sample
        case Person():
            # 302: the page of a factor that does not exist redirects to the list of factors, which asks to sign in.
            assert statuses["nobody"] in (302, 404, 405)
            assert {status for name, status in statuses.items() if name != "nobody"} <= {200, 302, 404, 405}
        case OwnToken():
            assert set(statuses.values()) == {401}
        case Anyone():
            assert 403 not in statuses.values()
            assert not asks_to_sign_in(answers["nobody"])


@pytest.mark.parametrize("address", [a for a in ADDRESSES if isinstance(find_rule(a)[0], Action)])
def test_no_key_ever_acts_for_a_person(callers, address):
    rule, _ = find_rule(address)
    answer = call_as_machine(address, rule, "key of all scopes", callers)
    assert asks_to_sign_in(answer) or answer.status_code == 403


@pytest.mark.parametrize("address", [a for a in ADDRESSES if isinstance(find_rule(a)[0], Page | Action)])
def test_a_foreign_item_looks_like_a_missing_one(callers, address):
    """For an item of another workspace the answer is 404, not 403, with the same words as for a missing item."""
    rule, _ = find_rule(address)
    foreign_answer = call_as_person(address, rule, "admin of another workspace", callers)
    missing_address = address.replace("<slug:slug>", "nowhere")
    missing = call_as_person(missing_address, rule, "admin of another workspace", callers)
    assert foreign_answer.status_code == missing.status_code == 404
    assert remove_ids(foreign_answer.content) == remove_ids(missing.content)


def remove_ids(content: bytes) -> bytes:
    return re.sub(rb'req_\w+|(?<=value=")[\w-]{40,}', b"", content)
