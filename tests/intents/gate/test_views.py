"""The page of the gate: editors and admins confirm or decline pending confirmations."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from affidavit import args_hash
from intents.gate import confirmations, views
from intents.gate.filters import STATES
from intents.gate.needs_confirmation import Call
from intents.gate.queries import match_state
from intents.models import Confirmation
from tests.page_text import read_html
from workspaces.models import AuditEntry

CALL = Call("user_17", "POST /refunds", args_hash({"amount": 1250}))


@pytest.fixture
def address(workspace) -> str:
    return f"/w/{workspace.workspace.slug}/production/confirmations"


@pytest.fixture
def pending_confirmation(production) -> Confirmation:
    return confirmations.request_confirmation(production, CALL, "Refund 12.50 for <order> 8412", now=timezone.now())


@pytest.fixture
def set_clock(monkeypatch):
    """Return a function that sets what `timezone.now()` returns."""

    def set_clock(moment) -> None:
        monkeypatch.setattr(views.timezone, "now", lambda: moment)

    return set_clock


@pytest.fixture
def decide(browser_client, address):
    def post(confirmation: Confirmation, decision: str, client: Client = browser_client):
        return client.post(f"{address}/{confirmation.pk}/decision", {"decision": decision})

    return post


def test_an_empty_page_shows_the_call_that_fills_it(browser_client, address, api):
    response = browser_client.get(address)
    assert "/api/confirmations" in response.content.decode()
    assert api.post("/api/confirmations", response.context["first_confirmation"].encode()).status_code == 201
    assert "Refund 12.50 for order 8412" in browser_client.get(address).content.decode()


def test_the_head_counts_pending_and_expired_confirmations(browser_client, address, production, set_clock):
    now = timezone.now()
    for minutes in (0, 10, 20):
        confirmations.request_confirmation(production, CALL, "Refund", now=now - timedelta(minutes=minutes))
    set_clock(now)
    text = browser_client.get(address).content.decode()
    assert "2 pending</span>" in text
    assert "1 expired in this period</a>" in text


def test_a_call_to_confirm_is_not_shown_as_another_one(browser_client, address, production):
    call = Call("user_\u202e71", "POST /refunds/\u202e71", CALL.args_hash)  # shown as /refunds/17, unless it is spelled
    confirmations.request_confirmation(production, call, "Refund order 17", now=timezone.now())
    text = browser_client.get(address).content.decode()
    assert r"<code>user_\u202e71</code>" in text  # not cut either
    assert r"POST /refunds/<wbr>\u202e71</code>" in text
    assert ">user_\u202e71" not in text


def test_a_pending_confirmation_is_shown_with_its_summary_escaped(browser_client, address, pending_confirmation):
    text = browser_client.get(address).content.decode()
    assert "Refund 12.50 for &lt;order&gt; 8412" in text
    assert 'value="confirm"' not in text  # that button is part of the second step
    assert f"decide={pending_confirmation.pk}&amp;as=confirm" in text


def test_deciding_and_undoing_keep_the_filters_but_not_the_second_step(browser_client, address, pending_confirmation):
    """Deciding and undoing lead to the page with its filters, but without the question of the second step."""
    form = f"http://testserver{address}?range=30d&decide={pending_confirmation.pk}&as=confirm"
    for decision in ("confirm", "undo"):
        response = browser_client.post(
            f"{address}/{pending_confirmation.pk}/decision", {"decision": decision}, headers={"referer": form}
        )
        assert response["Location"] == f"{address}?range=30d#confirmation-{pending_confirmation.pk}"


@pytest.mark.parametrize(("decision", "state"), [("confirm", "confirmed"), ("decline", "declined")])
def test_a_person_decides_on_the_page_in_two_steps(
    decide, browser_client, address, pending_confirmation, decision, state, set_clock
):
    step = browser_client.get(address, {"decide": str(pending_confirmation.pk), "as": decision}).content.decode()
    assert f'value="{decision}"' in step
    assert "Cancel" in step
    response = decide(pending_confirmation, decision)
    assert (response.status_code, response["Location"]) == (303, f"{address}#confirmation-{pending_confirmation.pk}")
    pending_confirmation.refresh_from_db()
    assert (pending_confirmation.state, pending_confirmation.decided_by) == (state, "test-operator")
    page = browser_client.get(address)
    assert [row.pk for row, _ in page.context["open_confirmations"]] == [pending_confirmation.pk]  # still in this table
    assert [shown_state for _, shown_state in page.context["rows"]] == ["pending"]
    assert "takes effect at" in page.content.decode()
    set_clock(pending_confirmation.effective_at)
    page = browser_client.get(address)
    assert list(page.context["open_confirmations"]) == []
    assert [shown_state for _, shown_state in page.context["rows"]] == [state]


def test_a_decision_can_be_undone_until_it_takes_effect(
    decide, browser_client, address, pending_confirmation, set_clock
):
    expires_at = pending_confirmation.expires_at
    decide(pending_confirmation, "confirm")
    decide(pending_confirmation, "undo")
    pending_confirmation.refresh_from_db()
    assert (pending_confirmation.state, pending_confirmation.decided_by, pending_confirmation.decided_at) == (
        "pending",
        "",
        None,
    )
    assert (pending_confirmation.effective_at, pending_confirmation.expires_at) == (None, expires_at)
    actions = [entry.action for entry in AuditEntry.objects.filter(action__startswith="confirmation")]
    assert sorted(actions) == ["confirmation confirmed", "confirmation decision undone"]
    assert CALL.args_hash in browser_client.get(address).content.decode()
    decide(pending_confirmation, "decline")
    pending_confirmation.refresh_from_db()
    set_clock(pending_confirmation.effective_at)
    too_late = decide(pending_confirmation, "undo")
    assert "already declined" in browser_client.get(too_late["Location"]).content.decode()
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "declined"


def test_a_decided_row_says_when_it_takes_effect_and_is_not_counted_as_pending(
    decide, browser_client, address, pending_confirmation
):
    assert '<span class="tag warn">1 pending</span>' in browser_client.get(address).content.decode()
    decide(pending_confirmation, "decline")
    page = read_html(browser_client.get(address))
    cell = re.search(r'data-is="Decision" class="soft nowrap">(.*?)</td>', page)[1]
    pending_confirmation.refresh_from_db()
    assert f"takes effect at {pending_confirmation.effective_at:%H:%M:%S}" in cell
    assert "expired" not in cell
    assert "pending</span>" not in page
    assert 'value="undo"' in page


def test_the_time_that_is_left_is_counted_down_and_without_script_its_end_is_named(
    decide, browser_client, address, pending_confirmation, set_clock
):
    set_clock(pending_confirmation.expires_at - timedelta(seconds=68))
    page = read_html(browser_client.get(address))
    assert '<span class="only-script" data-seconds-left="68">1 min 08 s</span>' in page
    assert f'<span class="without-script">at {pending_confirmation.expires_at:%H:%M:%S}</span>' in page
    decide(pending_confirmation, "confirm")
    page = read_html(browser_client.get(address))
    assert 'Undo <span class="only-script" data-seconds-left="10">10 s</span>' in page


def test_only_a_decision_made_on_the_page_can_be_undone(decide, browser_client, address, pending_confirmation, api):
    assert "already pending" in browser_client.get(decide(pending_confirmation, "undo")["Location"]).content.decode()
    decision = api.post(f"/api/confirmations/{pending_confirmation.pk}/decision", {"decision": "confirm"})
    assert decision.json()["state"] == "confirmed"
    assert "already confirmed" in browser_client.get(decide(pending_confirmation, "undo")["Location"]).content.decode()


def test_a_second_decision_changes_nothing_and_the_page_says_so(decide, browser_client, pending_confirmation):
    decide(pending_confirmation, "decline")
    response = decide(pending_confirmation, "confirm")
    text = browser_client.get(response["Location"]).content.decode()
    assert "this confirmation is already declined" in text
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "declined"


def test_the_signed_facts_are_next_to_the_summary_until_the_decision_takes_effect(
    decide, browser_client, address, pending_confirmation, set_clock
):
    text = browser_client.get(address).content.decode()
    for signed in (CALL.sub, CALL.operation, CALL.args_hash):
        assert f">{signed}</code>" in text
    decide(pending_confirmation, "confirm")
    pending_confirmation.refresh_from_db()
    set_clock(pending_confirmation.effective_at)
    assert CALL.args_hash not in browser_client.get(address).content.decode()
    row = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]["confirmations"][0]
    assert (row["state"], row["argsHash"]) == ("confirmed", None)


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 303), ("admin", 303)])
def test_deciding_needs_the_role_of_an_editor(decide, pending_confirmation, workspace, role, status):
    member = get_user_model().objects.create_user("member")
    member.memberships.create(workspace=workspace.workspace, role=role)
    client = Client()
    client.force_login(member)
    assert decide(pending_confirmation, "confirm", client).status_code == status


def test_a_viewer_is_offered_no_decision_and_reads_who_decides(decide, address, pending_confirmation, workspace):
    viewer = get_user_model().objects.create_user("vera")
    workspace.workspace.memberships.create(user=viewer, role="viewer")
    client = Client()
    client.force_login(viewer)
    for query in ("", f"?decide={pending_confirmation.pk}&as=confirm"):
        page = client.get(f"{address}{query}").content.decode()
        assert "as=confirm#" not in page
        assert "/decision" not in page
        assert "Editors of this workspace confirm and decline calls." in page
    decide(pending_confirmation, "confirm")
    page = client.get(address).content.decode()
    assert "Confirmed by" in page
    assert "/decision" not in page


def test_the_hash_of_the_arguments_is_folded_beside_the_summary(browser_client, address, pending_confirmation):
    page = read_html(browser_client.get(address))
    assert f'<summary aria-label="Hash of the arguments">hash</summary> <code>{CALL.args_hash}</code>' in page
    head = page.partition("<h2>Pending</h2>")[2].partition("</thead>")[0]
    assert re.findall(r"<th [^>]*>([^<]*)</th>", head) == ["Call", "User", "Operation", "Expires", "Decision"]


def test_an_unknown_decision_is_refused(decide, pending_confirmation):
    assert decide(pending_confirmation, "maybe").status_code == 400
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "pending"


def test_an_expired_confirmation_is_no_longer_pending(browser_client, address, production):
    confirmations.request_confirmation(production, CALL, "Old", now=timezone.now() - timedelta(minutes=16))
    page = browser_client.get(address)
    assert list(page.context["open_confirmations"]) == []
    assert [state for _, state in page.context["rows"]] == ["expired"]


def test_exports_have_every_row_with_null_for_missing_values(browser_client, address, production, pending_confirmation):
    for number in range(30):
        confirmations.request_confirmation(production, CALL, f"Question {number}", now=timezone.now())
    tables = json.loads(browser_client.get(f"{address}.json").getvalue())["tables"]
    assert len(tables["waiting"]) == len(tables["confirmations"]) == 31
    row = next(row for row in tables["confirmations"] if row["confirmationId"] == str(pending_confirmation.pk))
    assert (row["state"], row["argsHash"]) == ("pending", CALL.args_hash)
    assert row["decidedAt"] is row["decidedBy"] is row["usedAt"] is row["toolCallId"] is None
    assert "1 to 10 of 31" in browser_client.get(address).content.decode()


def test_the_page_counts_a_long_queue(browser_client, address, production):
    for number in range(52):
        confirmations.request_confirmation(production, CALL, f"Question {number}", now=timezone.now())
    page = browser_client.get(address)
    assert len(page.context["open_confirmations"]) == 50
    assert "The first 50 of 52" in page.content.decode()


def test_the_page_of_staging_shows_no_confirmation_of_production(browser_client, address, pending_confirmation):
    page = browser_client.get(address.replace("production", "staging"))
    assert "No confirmations yet" in page.content.decode()


def test_an_outsider_sees_and_decides_nothing(decide, address, pending_confirmation, other_workspace):
    stranger = get_user_model().objects.create_user("stranger")
    stranger.memberships.create(workspace=other_workspace.workspace, role="editor")
    client = Client()
    client.force_login(stranger)
    assert client.get(address).status_code == 404
    assert decide(pending_confirmation, "confirm", client).status_code == 404
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "pending"


def test_a_key_reads_the_page_but_decides_nothing_on_it(decide, address, pending_confirmation, api, workspace):
    assert api.get(f"{address}.json").status_code == 200
    keyed = Client(headers={"x-service-api-key": workspace.full_key})
    assert decide(pending_confirmation, "confirm", keyed).status_code == 302
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "pending"


def test_a_decision_needs_a_csrf_token_and_a_post(address, pending_confirmation, browser_client):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(get_user_model().objects.get(username="test-operator"))
    decision_address = f"{address}/{pending_confirmation.pk}/decision"
    assert strict.post(decision_address, {"decision": "confirm"}).status_code == 403
    assert browser_client.get(decision_address).status_code == 405
    pending_confirmation.refresh_from_db()
    assert pending_confirmation.state == "pending"


@pytest.mark.parametrize("state", [*STATES])
def test_the_filter_on_the_state_agrees_with_the_displayed_state(production, state):
    now = timezone.now()
    earlier, later = now - timedelta(seconds=1), now + timedelta(seconds=1)
    for stored, expires_at, effective_at in product(STATES, (earlier, later), (None, earlier, later)):
        is_possible = stored in ("confirmed", "declined") or effective_at is None
        if is_possible:
            Confirmation.objects.create(
                environment=production, sub="u", operation="POST /a", args_hash="h", summary="s", state=stored,
                created_at=now - timedelta(minutes=1), expires_at=expires_at, effective_at=effective_at,
            )  # fmt: skip
    matching = set(Confirmation.objects.filter(match_state(state, now)))
    assert matching == {row for row in Confirmation.objects.all() if row.state_at(now) == state}
    assert matching


def test_filters_narrow_the_page_and_its_exports(browser_client, address, production, decide, pending_confirmation):
    other = Call("user_18", "DELETE /cart", args_hash({}))
    confirmations.request_confirmation(production, other, "Empty the cart", now=timezone.now())
    for query in ("user=user_18", "operation=DELETE%20/cart", "user=user_18&state=pending"):
        text = browser_client.get(f"{address}?{query}").content.decode()
        assert "Empty the cart" in text
        assert "Refund 12.50" not in text
        tables = json.loads(browser_client.get(f"{address}.json?{query}").getvalue())["tables"]
        assert [len(tables[name]) for name in ("waiting", "confirmations")] == [1, 1]
    text = browser_client.get(f"{address}?state=used").content.decode()
    assert "No confirmations in this period with these filters" in text
    assert "take the whole id" not in text
    assert "<h2>Pending</h2>" not in text
    text = browser_client.get(f"{address}?user=user").content.decode()
    assert "The filters User and Operation take the whole id and the whole name." in text
    assert "Empty the cart" in browser_client.get(f"{address}?state=nonsense&user=user_18").content.decode()


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("DELETE /cart/lines/{lineId}", {"DELETE /cart/lines/114", "DELETE /cart/lines/7?soon=1"}),
        ("DELETE /cart/lines/114", {"DELETE /cart/lines/114"}),
        ("DELETE /cart/lines/7?soon=1", {"DELETE /cart/lines/7?soon=1"}),
        ("/cart/lines/{lineId}", {"DELETE /cart/lines/114", "DELETE /cart/lines/7?soon=1"}),
        ("PATCH /cart/lines/{lineId}", set()),
        ("DELETE /cart/lines/11", set()),
        ("DELETE /cart/{anything}", set()),
        ("DELETE /cart/lines/1.4", set()),
        ("cart.remove", {"cart.remove"}),
        ("cart_remove", set()),
    ],
)
def test_an_operation_is_found_by_its_template_and_by_its_path(browser_client, address, production, text, operations):
    for operation in ("DELETE /cart/lines/114", "DELETE /cart/lines/7?soon=1", "cart.remove", "POST /cart/lines"):
        call = Call("user_17", operation, args_hash({}))
        confirmations.request_confirmation(production, call, "Remove", now=timezone.now())
    tables = json.loads(browser_client.get(f"{address}.json", {"operation": text}).getvalue())["tables"]
    for name in ("waiting", "confirmations"):
        assert {row["operation"] for row in tables[name]} == operations


@pytest.mark.django_db
def test_a_link_shows_one_confirmation_of_any_age_or_says_where_it_is(browser_client, address, pending_confirmation):
    """A link to a confirmation shows it, however old it is; in another environment, the page says where it is."""
    confirmations.request_confirmation(pending_confirmation.environment, CALL, "Another call", now=timezone.now())
    Confirmation.objects.filter(pk=pending_confirmation.pk).update(
        created_at=timezone.now() - timedelta(days=60), expires_at=timezone.now() - timedelta(days=60)
    )
    page = browser_client.get(address, {"id": pending_confirmation.pk}).content.decode()
    assert "Refund 12.50 for &lt;order&gt; 8412" in page
    assert "Another call" not in page
    elsewhere = address.replace("production", "staging")
    confirmations.request_confirmation(
        pending_confirmation.environment.workspace.environments.get(name="staging"), CALL, "Third", now=timezone.now()
    )
    page = browser_client.get(elsewhere, {"id": pending_confirmation.pk}).content.decode()
    assert f'This confirmation is in <a href="{address}?id={pending_confirmation.pk}">production</a>' in page
    nowhere = browser_client.get(address, {"id": "24d7bbea-f782-4a73-bb2a-e397b59cd4c7"}).content.decode()
    assert "No such confirmation" in nowhere
