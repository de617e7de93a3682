"""Every variable that a template asks for exists. Django renders a missing one as nothing, so nobody would notice.

All pages of the URL configuration are opened, with data and without, and the links and filters on them are followed,
one address for each kind of result.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from html.parser import HTMLParser
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.template import Context, Template, engines
from django.template.base import FilterExpression, Node, Variable, VariableDoesNotExist
from django.template.context import BaseContext
from django.test import Client
from django.test.signals import template_rendered
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from affidavit import args_hash, mint_intent
from affidavit.operations import Identity
from alerts.evaluation.fire import evaluate_all
from alerts.models import Alert, Delivery, Target
from catalog.browse import views as browse_views
from catalog.browse.operation import tree_rows
from catalog.drift import views as drift_views
from catalog.ingest.operation_limit import record_excess
from catalog.models import Drift, WitnessReport
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from intents.models import Rejection
from intents.rejections import views as rejections_views
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins import listed_joins
from outcomes.broken_joins import views as joins_views
from outcomes.broken_joins.moves.move import move_broken_joins
from outcomes.ingest.record import Report, record_outcomes
from outcomes.models import Move
from tests.catalog.reports import deliver, environment_of, observation, report
from tests.sample_data import fill_workspace
from tests.workspaces.people.open_account_pages import open_members, open_people
from wire.address_members import PERIOD_MEMBERS
from wire.time.period import parse_period
from workspaces.create import NewWorkspace
from workspaces.keys.create import store_new_key
from workspaces.models import ApiKey, SampleWorkspace, SharedLink, SigningSecret
from workspaces.pages import render
from workspaces.pages.page import Page
from workspaces.people.sign_in.links import create_link
from workspaces.refusals.counter import get_counter

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("close_nonce_connections"), pytest.mark.timeout(600)]

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
PROVIDE_DEFAULTS = {"default", "default_if_none"}
# Variables that may be missing, by the first part of their name, with the reason
OPTIONAL = {
    "environment": "pages outside of a workspace have the same frame: signing in, failures, the API docs",
    "period": "the same pages as for `environment`",
    "unknown": "the same pages as for `environment`",
    "cut_sentence": "the same pages as for `environment`",
    "data_age": "a form that is shown again with its faults is never read from a replica",
}
NO_MATCHES = ({"q": "matches-nothing"}, {"from": "2020-01-01", "to": "2020-01-02"}, {"from": "not a date"})
SUBJECTS = {"method", "path", "part"}  # members that name the subject of a page: each value is a separate variant
ORDER = {"page", "sort"}  # members that choose other rows of the same list
MAX_ADDRESSES = 600


class Misses:
    """A record of each lookup that fails by mistake, as (template, line, variable), and of all rendered templates."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lookups: set[tuple[str, int, str]] = set()
        self.templates: set[str] = set()
        self._watch_variables(monkeypatch)
        self._watch_pages(monkeypatch)
        template_rendered.connect(self._note_template)

    def close(self) -> None:
        template_rendered.disconnect(self._note_template)

    def _note_template(self, template: Template, **_: Any) -> None:
        self.templates.add(str(template.name))

    def _watch_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        resolve_variable = Variable.resolve

        def resolve(variable: Variable, context: Context) -> Any:
            try:
                return resolve_variable(variable, context)
            except VariableDoesNotExist as miss:
                self._note_lookup(variable, miss)
                raise

        monkeypatch.setattr(Variable, "resolve", resolve)

    def _watch_pages(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Record for each request whether the page has a separate template for htmx."""
        choose_template = render._choose_template

        def choose(request: Any, page: Page) -> str:
            request.has_partial = bool(page.partial)
            return choose_template(request, page)

        monkeypatch.setattr(render, "_choose_template", choose)

    def _note_lookup(self, variable: Variable, miss: VariableDoesNotExist) -> None:
        _, parent = miss.params
        name = str(variable.var)
        # Attributes of None are not checked, because the lookup of the object itself was checked before.
        is_optional = isinstance(parent, BaseContext) and name.split(".")[0] in OPTIONAL
        if parent is None or is_optional:
            return
        node, has_default = _find_callers(variable)
        if not has_default:
            self.lookups.add((str(node.origin.template_name), node.token.lineno, name))


def _find_callers(variable: Variable) -> tuple[Node, bool]:
    """Return the node that asks for a variable, and whether a filter gives a default. Only nodes know their line.

    Both are read from the frames of the callers. Few lookups fail, so this is faster than recording each rendered node.
    """
    has_default = False
    frame = sys._getframe()
    while frame.f_code is not Node.render_annotated.__code__:
        if frame.f_code is FilterExpression.resolve.__code__ and frame.f_locals["self"].var is variable:
            has_default |= _has_default(frame.f_locals["self"])
        frame = frame.f_back
    return frame.f_locals["self"], has_default


def _has_default(expression: FilterExpression) -> bool:
    names = {getattr(function, "_filter_name", "") for function, _ in expression.filters}
    return not names.isdisjoint(PROVIDE_DEFAULTS)


class Links(HTMLParser):
    """The addresses of a page's links, and one address for each option of its filters."""

    def __init__(self, base: str, text: str) -> None:
        super().__init__()
        self.base = base
        self.addresses: list[str] = []
        self._action: str | None = None
        self._select = ""
        self._is_option_text = False
        self._members: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        for name in ("href", "hx-get"):
            if name in attributes and tag != "link":
                self._add(attributes[name])
        if tag == "form":
            is_filter = attributes.get("method", "get").lower() == "get"
            self._action = urlsplit(urljoin(self.base, attributes.get("action", ""))).path if is_filter else None
            self._members = {}
        elif tag == "select":
            self._select = attributes.get("name", "")
        elif tag == "option" and "value" in attributes:
            self._add_option(attributes["value"])
        elif tag == "option":
            self._is_option_text = True
        elif tag == "input" and attributes.get("type") != "checkbox" and "name" in attributes:
            self._members[attributes["name"]] = attributes.get("value", "")
        elif self._action is not None and tag == "input" and "name" in attributes:
            self._add(f"{self._action}?{urlencode({attributes['name']: attributes.get('value', 'on')})}")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._action is not None:
            self._add(f"{self._action}?{urlencode(self._members)}")  # the form with its current values
            self._action = None
        elif tag == "select":
            self._select = ""

    def handle_data(self, data: str) -> None:
        if self._is_option_text:
            self._is_option_text = False
            self._add_option(data.strip())

    def _add_option(self, value: str) -> None:
        if self._action is not None and self._select:
            self._members.setdefault(self._select, value)
            self._add(f"{self._action}?{urlencode({self._select: value})}")

    def _add(self, address: str) -> None:
        self.addresses.append(urljoin(self.base, address).partition("#")[0])


def list_patterns(patterns: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from list_patterns(pattern.url_patterns)
        else:
            yield pattern


def list_pages() -> list[str]:
    """Return the names of all pages of an environment: those whose tables can be downloaded too."""
    names = {pattern.name for pattern in list_patterns(get_resolver().url_patterns)}
    return sorted(name for name in names if name and f"{name}.json" in names)


def open_pages(client: Client, start: str, *, follows_links: bool = False, **query: str) -> None:
    """Open each page. Open it as htmx does, too, if the page has another template for that.

    follows_links: open linked addresses too.
    """
    waiting = [f"{start}/{page}?{urlencode(query)}" for page in list_pages()]
    waiting += [] if not follows_links else [f"{start}/catalog?status=404", f"{start}/rejections?reason=no-such-reason"]
    visited: set[tuple[str, frozenset[tuple[str, str]]]] = set()
    while waiting:
        address = waiting.pop(0)
        if not re.match(rf"{start}/\w+(\?|$)", address):  # a download, or another environment
            continue
        variant = _name_variant(address)
        if variant in visited:
            continue
        visited.add(variant)
        assert len(visited) <= MAX_ADDRESSES, "the links of the pages lead to ever more variants"
        response = client.get(address)
        assert response.status_code in (200, 404), address
        if getattr(response.wsgi_request, "has_partial", True):  # otherwise htmx gets the same answer
            client.get(address, headers={"HX-Request": "true"})
        if follows_links and response.status_code == 200:
            waiting += Links(address, response.content.decode()).addresses


def _name_variant(address: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return the path and the filters of an address. Of all addresses with the same result, only one is opened.

    A value is cut to its first character, unless it is the only filter or names the subject of the page. Empty filters
    and the members of ORDER are left out if there are other filters. Otherwise the first of them is kept.
    """
    parts = urlsplit(address)
    members = parse_qs(parts.query, keep_blank_values=True)
    filters = {name: values[0] for name, values in members.items() if name not in PERIOD_MEMBERS}
    others = dict(list(filters.items())[:1])
    filters = {name: value for name, value in filters.items() if value and name not in ORDER} or others
    is_alone = len(filters) == 1
    is_conversation = parts.path.endswith("/conversation")  # dozens of conversations have similar pages
    is_whole = is_alone and not is_conversation
    variant = {name: value if is_whole or name in SUBJECTS else value[:1] for name, value in filters.items()}
    return parts.path, frozenset(variant.items())


@pytest.fixture
def misses(monkeypatch: pytest.MonkeyPatch) -> Iterator[Misses]:
    recorder = Misses(monkeypatch)
    yield recorder
    recorder.close()


def test_a_misspelt_variable_is_noticed_in_several_kinds_of_tags(misses):
    text = (
        "{{ page.titel }}{% if usre %}{% endif %}{% for row in rwos %}{% endfor %}{% with a=nmae %}{% endwith %}"
        "{{ page|add:nubmer }}{{ optional|default:'' }}{{ nothing.name }}{{ page.title }}"
    )
    template = engines["django"].from_string(text)
    with pytest.raises(VariableDoesNotExist):  # Django itself raises only for a missing argument of a filter
        template.render({"page": {"title": "Overview"}, "nothing": None})
    assert {name for _, _, name in misses.lookups} == {"page.titel", "usre", "rwos", "nmae", "nubmer"}


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show two rows of a list on each page, and close branches of two or more fields."""
    monkeypatch.setattr(tree_rows, "CLOSED_FROM", 2)
    monkeypatch.setattr(browse_views, "ROWS_PER_PAGE", 2)
    monkeypatch.setattr(drift_views, "ROWS_PER_PAGE", 2)
    monkeypatch.setattr(joins_views, "ROWS_PER_PAGE", 2)
    monkeypatch.setattr(listed_joins, "ROWS_PER_PAGE", 2)
    monkeypatch.setattr(rejections_views, "ROWS_PER_PAGE", 2)


def move_a_join(workspace: Any, api: Any) -> None:
    """Report to production an outcome of a conversation that staging knows; then move the broken join to staging."""
    outcome = {"conversationId": "stage_3", "outcomeKey": "moved"}
    assert api.post("/api/conversation-outcomes", {"outcomes": [outcome]}).status_code == 200
    source, target = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    now = timezone.now()
    assert move_broken_joins(source, target, parse_period({}, now=now), actor="ann", now=now)


def report_again(workspace: Any) -> None:
    """Report a broken join 30 days ago, and again now."""
    production, now = workspace.workspace.environments.get(name="production"), timezone.now()
    for moment in (now - timedelta(days=30), now):
        record_outcomes(production, [Report("{{conversationId}}", "purchase")], now=moment)


def lose_a_property(workspace: Any, api: Any) -> None:
    """Observe a property that is always present, then another in its place, in too few objects for drift."""
    for count, body in ((30, {"id": 1, "note": "x"}), (5, {"id": 1, "remark": "x"})):
        deliver(api, workspace, *[observation(path="/lost", response=body)] * count)


@pytest.mark.usefixtures("small_pages")
def test_every_variable_of_every_template_exists(
    misses, browser_client, client, api, workspace, other_workspace, settings
):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # a quick one
    start = fill_workspace(workspace, api)
    lose_a_property(workspace, api)
    add_decisions(browser_client, workspace, api, start)
    open_pages(browser_client, start, follows_links=True)
    move_a_join(workspace, api)
    report_again(workspace)
    for page in ("overview", "joins", "keys"):
        assert browser_client.get(f"{start}/{page}").status_code == 200, page
    staging, move = start.replace("production", "staging"), Move.objects.first()
    for page in ("overview", "outcomes", "outcome?key=moved"):
        assert browser_client.get(f"{staging}/{page}").status_code == 200, page
    assert browser_client.get(f"{start}/joins?done=moved&move={move.pk}").status_code == 200
    lost = {"method": "GET", "path": "/lost", "part": "200", "at": "/note"}
    assert browser_client.get(f"{start}/property", lost).status_code == 200
    replacement = Drift.objects.get(operation__path="/lost", pointer="/remark")
    assert browser_client.get(f"{start}/change", {"id": replacement.pk}).status_code == 200
    versions = {"method": "GET", "path": "/books/{bookId}", "before": "1", "after": "2"}
    assert browser_client.get(f"{start}/operation", versions).status_code == 200
    assert browser_client.get(f"{start}/conversation", {"id": "conv_1"}).status_code == 200
    for count, body in ((30, {"id": "x", "note": "x"}), (5, {"id": "x"})):  # both environments lose the property
        deliver(api, workspace, *[observation(path="/lost", response=body)] * count, environment="staging")
    assert browser_client.get(f"{start}/difference?against=staging").status_code == 200
    for rejection in Rejection.objects.all():
        query = {"at": rejection.occurred_at.isoformat(), "id": rejection.pk}
        assert browser_client.get(f"{start}/rejection", query).status_code == 200, rejection
    for query in NO_MATCHES:
        open_pages(browser_client, start, **query)
    open_pages(browser_client, f"/w/{other_workspace.workspace.slug}/staging")
    open_settings(browser_client, start)
    open_changes(browser_client, api, workspace, start)
    open_refused_requests(browser_client, api, workspace, start)
    open_phases(browser_client, api, workspace, start)
    open_outage(browser_client, workspace, start)
    open_shared_links(browser_client, client, start)
    open_members(browser_client, start)
    open_alerts(browser_client, start, settings)
    open_forms(browser_client, client, workspace, start)
    open_people(other_workspace, settings)
    open_deletions(browser_client, start, other_workspace)
    lines = [f"templates/{template}:{line} {name}" for template, line, name in sorted(misses.lookups)]
    assert not lines, "no view provides these variables:\n" + "\n".join(lines)
    all_templates = {str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html")}
    unseen_templates = sorted(all_templates - misses.templates)
    assert not unseen_templates, "open a page that shows these templates:\n" + "\n".join(unseen_templates)


def add_decisions(browser: Client, created: NewWorkspace, api: Any, start: str) -> None:
    """Add actions of people, and failures: rules, moves, confirmations, drift, a report that cannot be folded."""
    deliver(api, created, *[observation(path="/books/{bookId}", response={"id": 1, "note": "x"})] * 30)
    deliver(api, created, observation(path="/books/{bookId}", response={"id": "1", "note": None, "tags": {"a": 1}}))
    operation = {"method": "GET", "path": "/books/{bookId}"}
    member = {**operation, "part": "200", "pointer": "/tags"}
    for address, form in (
        ("operation/baseline", {**operation, "part": "200", "pointer": "/id"}),
        ("operation/maps", {**member, "as": "map"}),
        ("operation/template", {"method": "GET", "path": "/search", "target": "/{anything}"}),
        ("operation/template", {**operation, "target": "not a template"}),
        ("rules/redaction", {"kind": "drop", "name": "trace"}),
        ("rules/redaction", {"kind": "?", "name": ""}),
        ("joins/move?range=all", {"to": "staging"}),
        ("joins/moves/{move}/undo?range=all", {}),
        ("operation/baseline", {"method": "POST", "path": "/orders"}),
    ):
        move = Move.objects.values_list("pk", flat=True).first()
        response = browser.post(f"{start}/{address.format(move=move)}", form)
        assert response.status_code == 303, (address, response.content)
        assert browser.get(response["Location"]).status_code == 200, address
    for number in range(3):
        request = {"sub": "user-1", "operation": "POST /refunds", "args": {"orderId": number}, "summary": "Refund"}
        confirmation = api.post("/api/confirmations", request).json()["confirmationId"]
        decision = ("confirm", "decline", "")[number]
        for choice in ("confirm", "decline"):
            assert browser.get(f"{start}/confirmations?decide={confirmation}&as={choice}").status_code == 200
        for _ in range(2 if decision else 0):
            response = browser.post(f"{start}/confirmations/{confirmation}/decision", {"decision": decision})
            assert browser.get(response["Location"]).status_code == 200
    lookalike = {"conversationId": "conv_2", "outcomeKey": "Purchase"}
    assert api.post("/api/conversation-outcomes", {"outcomes": [lookalike]}).status_code == 200
    call = Call("user-1", "GET /books/17", args_hash({}))
    mint_for_call(environment_of(created), call, tool_call_id="call_minted", now=timezone.now())
    assert browser.get(f"{start}/toolcall", {"id": "call_minted"}).status_code == 200
    late = {"conversationId": "conv_unseen"}
    assert api.post("/api/conversations", {"conversations": [late]}).status_code == 200
    assert api.post("/api/witness-reports", report(observation())).status_code == 202
    WitnessReport.objects.filter(folded_at=None).update(dead_lettered_at=timezone.now(), fault="It cannot be folded.")
    record_excess(environment_of(created), {Identity("GET", "/beyond"): 1}, now=timezone.now())
    SampleWorkspace.objects.create(workspace=created.workspace, made_at=timezone.now())


def open_settings(browser: Client, start: str) -> None:
    """Create and end keys, environments and signing secrets, with and without faults; open the resulting pages."""
    key = {"name": "ci", "kind": "secret", "scopes": ["report"], "everywhere": "no", "environments": ["staging"]}
    for form in (key, {}):
        assert browser.post(f"{start}/keys/create", form, follow=True).status_code == 200
    for address, form in (
        ("environments/create", {"name": "qa", "label": "Quality"}),
        ("environments/create", {"name": "qa"}),
        ("environments/qa/change", {"label": "Q", "audience": "urn:q"}),
        ("environments/qa/archive", {}),
        ("v1-window", {"until": "2099-01-01T00:00"}),
    ):
        assert browser.post(f"{start}/{address}", form, follow=True).status_code == 200
    open_pages(browser, f"{start.rpartition('/')[0]}/qa")
    for step in ("prepare", "prepare", "activate", "prepare"):
        assert browser.post(f"{start}/secrets/{step}", follow=True).status_code == 200
    newest_secret = SigningSecret.objects.latest("id")
    secrets = f"{start}/secrets"
    for address in Links(secrets, browser.get(secrets).content.decode()).addresses:
        if address.startswith(f"{secrets}?"):
            assert browser.get(address).status_code == 200
    assert browser.post(f"{start}/secrets/{newest_secret.pk}/revoke", follow=True).status_code == 200
    newest = ApiKey.objects.latest("id")
    assert browser.post(f"{start}/keys/{newest.pk}/revoke", follow=True).status_code == 200


def open_changes(browser: Client, api: Any, created: NewWorkspace, start: str) -> None:
    """Change a field twice, on the second of two observed days, and open the page of a change."""
    yesterday = (timezone.now() - timedelta(days=1)).timestamp()
    deliver(api, created, *[observation(path="/changes", response={"total": 1}, lastSeenAt=yesterday)] * 30)
    for total in (1.5, "x"):
        deliver(api, created, observation(path="/changes", response={"total": total}))
    change = Drift.objects.filter(operation__path="/changes").earliest("id")
    assert browser.get(f"{start}/change", {"id": change.pk}).status_code == 200


def open_refused_requests(browser: Client, api: Any, created: NewWorkspace, start: str) -> None:
    """Let a publishable, a secret and a revoked key be refused, and open the pages that say so."""
    revoked = store_new_key(created.workspace, ApiKey.SECRET, ["report"], now=timezone.now())
    ApiKey.objects.filter(prefix=revoked[:12]).update(revoked_at=timezone.now())
    for key in (created.full_key, created.publishable_key, revoked):
        get_counter.cache_clear()
        assert api.post("/api/conversation-outcomes", b"{", key=key).status_code in (400, 401, 403)
    for address in ("keys", "refused-requests", f"refused-requests?by={revoked[:12]}"):
        assert browser.get(f"{start}/{address}").status_code == 200


def open_phases(browser: Client, api: Any, created: NewWorkspace, start: str) -> None:
    """Report something before and after the quarter hour of an annotation, so that two phases are compared."""
    now = timezone.now()
    deploy = {"text": "Deploy 4.0", "at": int((now - timedelta(hours=1)).timestamp())}
    assert api.post("/api/annotations", deploy).status_code == 201
    for number, moment in enumerate((now - timedelta(days=2), now - timedelta(minutes=30))):
        record_verifications(environment_of(created), [Verification("expired", moment)])
        record_outcomes(environment_of(created), [Report(f"conv_before_{number}", "purchase")], now=moment)
    for page in ("rejections", "joins"):
        assert browser.get(f"{start}/{page}").status_code == 200, page


def open_outage(browser: Client, created: NewWorkspace, start: str) -> None:
    """Let a backend lack the current signing secret, in environments with an accepted call and in others without."""
    rejected = Verification("bad-signature", timezone.now() + timedelta(seconds=1), count=500)
    for environment in created.workspace.environments.all():
        record_verifications(environment, [rejected])
        assert browser.get(f"{start.rpartition('/')[0]}/{environment.name}/overview").status_code == 200
    assert browser.get(f"{start}/secrets").status_code == 200


def open_shared_links(browser: Client, stranger: Client, start: str) -> None:
    """Share a page, with and without a fault, open the link, and revoke it."""
    page = f"{start}/shared-links"
    assert browser.get(page).status_code == 200
    for form in ({"page": "outcomes", "query": "q=purchase", "days": "7"}, {}):
        answer = browser.post(f"{page}/add", form, follow=True).content.decode()
        for token in re.findall(r"/shared/([\w-]+)<", answer):
            assert stranger.get(f"/shared/{token}").status_code == 200
    link = SharedLink.objects.get()
    assert browser.get(page, {"revoke": link.pk}).status_code == 200
    assert browser.post(f"{page}/{link.pk}/revoke", follow=True).status_code == 200


def open_alerts(browser: Client, start: str, settings: Any) -> None:
    """Set up alerts and targets, with and without faults; open the resulting pages."""
    settings.WEBHOOK_PRIVATE_TARGETS = [ip_network("127.0.0.1")]
    target = {"kind": "webhook", "name": "ops", "address": "http://127.0.0.1:9/"}
    for form in (target, {"kind": "pager"}, {**target, "kind": "slack", "name": "chat"}):
        assert browser.post(f"{start}/alerts/targets/create", form, follow=True).status_code == 200
    ops, chat = Target.objects.order_by("id")
    alert = {
        "kind": "drift.breaking", "environment": "production", "reason_minimum": 1, "minimum": 1, "minutes": 15,
        "percent": 0, "factor": 1, "silent_minutes": 60,
    }  # fmt: skip
    for form in ({**alert, "targets": [ops.pk]}, {**alert, "minimum": "x", "kind": "rejections.spike"}):
        assert browser.post(f"{start}/alerts/create", form, follow=True).status_code == 200
    for kind in ("rejections.new-reason", "rejections.spike", "broken-joins.spike", "reporter.silent"):
        assert browser.get(f"{start}/alerts", {**alert, "kind": kind}).status_code == 200
    row = Alert.objects.get()
    row.active_from = timezone.now() - timedelta(days=1)
    row.save()
    evaluate_all(now=timezone.now())
    for number, state in enumerate(("waiting", "delivered", "dead")):
        assert browser.post(f"{start}/alerts/targets/{(ops, chat)[number % 2].pk}/test", follow=True).status_code == 200
        fields = {"attempts": number, "fault": "answered 500" if state == "dead" else "", "finished_at": timezone.now()}
        newest = Delivery.objects.latest("id")
        Delivery.objects.filter(pk=newest.pk).update(state=state, **fields)
        assert browser.get(f"{start}/deliveries?state={state}").status_code == 200
        assert browser.get(f"{start}/alerts").status_code == 200
    numbers = {"edit": row.pk, "delete": row.pk, "target": ops.pk, "rotate": ops.pk, "delete_target": ops.pk}
    for query in (*numbers.items(), ("delete_target", chat.pk)):
        assert browser.get(f"{start}/alerts", dict([query])).status_code == 200
    assert browser.post(f"{start}/alerts/targets/{ops.pk}/delete").status_code == 200
    assert browser.post(f"{start}/alerts/{row.pk}/pause", follow=True).status_code == 200


def open_deletions(browser: Client, start: str, other: NewWorkspace) -> None:
    """Delete a conversation in two steps, with and without a fault, and a workspace; ask for the sample's removal."""
    assert browser.get(f"/w/{start.split('/')[2]}/remove-sample").status_code == 200
    conversation = {"subject": "conversation", "name": "conv_59"}
    for members in ({"name": ""}, {"name": "nothing"}, {}, {"typed": "conv_5"}, {"typed": "conv_59"}):
        response = browser.post(f"{start}/retention/deletions", {**conversation, **members}, follow=True)
        assert response.status_code == 200
    for days in ({"audit": "ten"}, {"rejections": "1"}):
        assert browser.post(f"{start}/retention/days", days).status_code == 200
    for days in ("400", "400"):
        assert browser.post(f"{start}/retention/days", {"audit": days}, follow=True).status_code == 200
    workspace = {"subject": "workspace", "name": other.workspace.name}
    for members in ({}, {"typed": other.workspace.name}):
        address = f"/w/{other.workspace.slug}/staging/retention/deletions"
        assert browser.post(address, {**workspace, **members}).status_code == 200


def open_forms(browser: Client, stranger: Client, created: NewWorkspace, start: str) -> None:
    """Open the inspector's answers, and pages that belong to no environment: signing in, workspaces, failures."""
    production = environment_of(created)
    intent = mint_intent(
        created.signing_secret, tenant_id=created.workspace.id, sub="user_17", aud=production.audience,
        operation="POST /refunds", args={"amount": 1250},
    )  # fmt: skip
    form = {"method": "POST", "path": "/refunds", "content_type": "application/json", "body": '{"amount": 1250}'}
    for members in ({"header": intent.header}, {"header": "x"}, {"header": intent.header, "body": "{}"}, {"path": ""}):
        assert browser.post(f"{start}/inspector/checks", {**form, **members}, follow=True).status_code == 200
    for example in ("passes", "fails"):
        assert browser.get(f"{start}/inspector", {"example": example}).status_code == 200
    for name in ("", "Shop"):
        assert browser.post("/workspaces/new", {"name": name, "environments": ""}, follow=True).status_code == 200
    assert browser.get("/workspaces/new").status_code == 200
    assert stranger.get("/api/docs").status_code == 200
    assert browser.get("/no-such-page", headers={"Accept": "text/html"}).status_code == 404
    assert stranger.get("/no-such-page", headers={"Accept": "text/html"}).status_code == 404
    assert stranger.get("/sign-in").status_code == 200
    assert stranger.post("/sign-in", {"login": "a", "password": "b"}).status_code == 200
    member = get_user_model().objects.create_user("without-a-workspace")
    token = create_link(member, now=timezone.now())
    assert stranger.get(f"/sign-in/{token}").status_code == 200
    assert stranger.get("/sign-in/unknown").status_code == 200
    stranger.force_login(member)
    assert stranger.get("/").status_code == 200
