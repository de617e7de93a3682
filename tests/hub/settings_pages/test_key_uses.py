"""The page of keys says what each key did in the last 7 days and where, as far as that is recorded."""

import json
import re
from datetime import timedelta
from html import unescape

from django.utils import timezone

from hub.settings_pages.key_uses import KeyUse, find_last_use, read_key_uses
from hub.templatetags.settings_pages import last_use
from intents.models import Rejection
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from outcomes.broken_joins.moves.move import move_broken_joins, undo_move
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from tests.page_text import read_html
from wire.time.period import parse_period
from workspaces.keys.create import create_key
from workspaces.models import ApiKey
from workspaces.secrets.uses import SecretUses, record_uses

PAGE = "/w/lumen-books/production/keys"


def read_rows(page, key):
    """Return the rows of a key in the table of uses."""
    body = page.partition('id="uses"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [row for row in body.split("</tr>") if f'<th scope="row">{key.name}</th>' in row]


def read_uses(page, key):
    """Return what the table of uses says of a key in each environment."""
    rows = [re.split(r"</t[hd]>", row)[:-1] for row in read_rows(page, key)]
    texts = [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells] for cells in rows]
    return {environment: tuple(cells) for _, environment, *cells in texts}


def test_each_key_has_its_environments_and_counts_with_links_to_the_same_numbers(browser_client, workspace):
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    key = workspace.workspace.api_keys.get(name="report")
    now = timezone.now()
    register_conversations(production, [Arrival("known")], now=now)
    record_outcomes(production, [Report("known", "purchase")], now=now, reported_by=key.pk)
    record_outcomes(production, [Report("a", "purchase"), Report("b", "purchase")], now=now, reported_by=key.pk)
    create_key(workspace.workspace, scopes=["report"], name="other", actor="ann", now=now)
    other = workspace.workspace.api_keys.get(name="other")
    record_outcomes(production, [Report("c", "purchase")], now=now, reported_by=other.pk)
    record_outcomes(staging, [Report("s", "purchase")], now=now - timedelta(days=9), reported_by=key.pk)
    record_verifications(staging, [Verification("expired", now, count=4)])
    Rejection.objects.update(api_key=key)
    record_verifications(staging, [Verification("expired", now, count=2)])

    page = read_html(browser_client.get(PAGE))
    assert read_uses(page, key) == {
        "production": ("3", "2", "0", "0", "–"), "staging": ("0", "0", "4", "0", "–")
    }  # fmt: skip
    links = {
        number: unescape(address)
        for address, number in re.findall(r'href="([^"]+#[-\w]+)">(\d+)</a>', "".join(read_rows(page, key)))
    }
    assert set(links) == {"3", "2", "4"}
    rates = read_html(browser_client.get(links["3"].partition("#")[0])).partition("Broken rate by API key")[2]
    assert '<td class="num">3</td>' in rates
    joins = browser_client.get(links["2"].partition("#")[0])
    assert {join.conversation_id for join, *_ in joins.context["joins"]} == {"a", "b"}
    rejections = browser_client.get(links["4"].partition("#")[0])
    assert [rejection.count for rejection in rejections.context["rejections"]] == [4]
    exported = json.loads(browser_client.get(f"{PAGE}.json").getvalue())["tables"]["uses"]
    assert [tuple(use.values()) for use in exported if use["keyId"] == key.prefix] == [
        (key.prefix, "production", 3, 2, 0, 0, None, 0, 0), (key.prefix, "staging", 0, 0, 4, 0, None, 0, 0),
    ]  # fmt: skip


def test_a_filter_by_key_narrows_the_downloads_alike_and_an_unknown_key_is_named(browser_client, workspace, production):
    key = workspace.workspace.api_keys.get(name="report")
    now = timezone.now()
    record_outcomes(production, [Report("a", "purchase")], now=now, reported_by=key.pk)
    record_outcomes(production, [Report("c", "purchase")], now=now)
    record_verifications(production, [Verification("expired", now), Verification("replayed", now)])
    Rejection.objects.filter(reason="replayed").update(api_key=key)
    for page, table in (("joins", "broken"), ("rejections", "rejections")):
        address = f"/w/lumen-books/production/{page}"
        rows = json.loads(browser_client.get(f"{address}.json?by={key.prefix}").getvalue())["tables"][table]
        assert len(rows) == 1
        assert browser_client.get(f"{address}.json?by=gak_unknown1").status_code == 400
        assert "does not know by=gak_unknown1" in read_html(browser_client.get(f"{address}?by=gak_unknown1"))


def test_a_key_whose_uses_are_not_recorded_says_so(browser_client, workspace):
    page = read_html(browser_client.get(PAGE))
    for key in ApiKey.objects.filter(workspace=workspace.workspace):
        row = "".join(read_rows(page, key))
        if key.kind == ApiKey.PUBLISHABLE:
            assert not row  # the list of keys says that its uses are not recorded
        elif set(key.scopes) == {"platform"}:
            assert "Not recorded: conversations and intents are stored without the key" in row
        else:
            assert "Nothing recorded in the last 7 days" in row


def test_a_key_whose_reported_outcomes_are_all_broken_joins_says_so(browser_client, workspace, production):
    key = workspace.workspace.api_keys.get(name="report")
    record_outcomes(production, [Report("a", "purchase")], now=timezone.now(), reported_by=key.pk)
    assert read_uses(read_html(browser_client.get(PAGE)), key) == {"production": ("1", "1", "0", "0", "–")}


def test_moved_outcomes_stay_reported_to_where_they_were_reported(browser_client, workspace):
    """Nobody reported the outcomes to the environment that they were moved to."""
    production, staging = (workspace.workspace.environments.get(name=name) for name in ("production", "staging"))
    key, now = workspace.workspace.api_keys.get(name="report"), timezone.now()
    period = parse_period({}, now=now)
    register_conversations(production, [Arrival(name) for name in "abc"], now=now)
    record_outcomes(production, [Report("c", "purchase")], now=now, reported_by=key.pk)
    record_outcomes(staging, [Report(name, "purchase") for name in "abc"], now=now, reported_by=key.pk)
    record_outcomes(staging, [Report("never", "purchase")], now=now, reported_by=key.pk)

    def count_reported():
        uses = read_key_uses(workspace.workspace, period, now=now)[key.pk]
        return {use.environment.name: (use.outcomes, use.broken_joins) for use in uses}

    assert count_reported() == {"production": (1, 0), "staging": (4, 4)}
    move = move_broken_joins(staging, production, period, actor="ann", now=now)
    assert move.outcomes == 3
    assert count_reported() == {"production": (1, 0), "staging": (4, 1)}
    assert read_uses(read_html(browser_client.get(PAGE)), key) == {
        "production": ("1 besides, 3 moved here from staging", "0", "0", "0", "–"),
        "staging": ("4 3 of them moved to production", "1", "0", "0", "–"),
    }
    exported = json.loads(browser_client.get(f"{PAGE}.json").getvalue())["tables"]["uses"]
    assert [(use["outcomes"], use["movedAway"], use["movedHere"]) for use in exported] == [(1, 0, 3), (4, 3, 0)]
    undo_move(move, actor="ann", now=now)
    assert count_reported() == {"production": (1, 0), "staging": (4, 4)}
    assert read_uses(read_html(browser_client.get(PAGE)), key)["staging"][0] == "4"


def test_a_key_was_last_used_when_it_sent_its_last_request_or_its_later_verification(workspace):
    """The later of both times counts."""
    key, now = workspace.workspace.api_keys.get(name="report"), timezone.now()
    production = workspace.workspace.environments.get(name="production")

    def find_last_use(last_used_at, *verified_at):
        key.last_used_at = last_used_at
        return last_use(key, {key.pk: [KeyUse(production, verified_at=moment) for moment in verified_at]})

    earlier = now - timedelta(minutes=1)
    assert find_last_use(earlier, None, now) == find_last_use(now, earlier) == find_last_use(None, now) == now
    assert find_last_use(None, None) is last_use(key, {}) is None


def test_the_export_gives_the_same_last_use_as_the_page(browser_client, workspace):
    key, now = workspace.workspace.api_keys.get(name="report"), timezone.now()
    production = workspace.workspace.environments.get(name="production")
    record_uses(production, key, {workspace.workspace.signing_secrets.get().prefix: SecretUses(1, now)})
    uses = read_key_uses(workspace.workspace, parse_period({}, now=now), now=now)
    exported = json.loads(browser_client.get(f"{PAGE}.json").getvalue())["tables"]["keys"]
    moments = {row["keyId"]: row["lastUsedAt"] for row in exported}
    assert moments[key.prefix] == int(find_last_use(key, uses[key.pk]).timestamp())


def test_a_decision_counts_for_the_key_that_made_it(browser_client, workspace, api):
    asked = {"sub": "user-1", "operation": "POST /refunds", "args": {"orderId": 1}, "summary": "Refund order 1"}
    confirmation = api.post("/api/confirmations", asked).json()["confirmationId"]
    api.post(f"/api/confirmations/{confirmation}/decision", {"decision": "confirm"})
    exported = json.loads(browser_client.get(f"{PAGE}.json").getvalue())["tables"]["uses"]
    assert [(use["environment"], use["decisions"]) for use in exported] == [("production", 1)]
    uses = read_html(browser_client.get(PAGE)).partition('id="uses"')[2].partition("</table>")[0]
    assert 'data-is="Decisions">1</td>' in uses  # no link: Confirmations cannot list the decisions of one key
