"""The page "broken joins" and its downloads."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from hub.retention.prune import prune_all
from outcomes.broken_joins import diagnosed_joins, queries
from outcomes.broken_joins.causes import groups
from outcomes.broken_joins.causes.advice import ADVICE
from outcomes.broken_joins.causes.groups import group_by_cause
from outcomes.ingest.record import Report, record_outcomes
from outcomes.ingest.register import Arrival, register_conversations
from outcomes.models import Outcome
from tests.outcomes.broken_joins.joins_page import PAGE, all_time, environment_of, tables
from tests.page_text import read_html
from tests.read_tables import read_tables
from workspaces.environments.change import archive_environment
from workspaces.models import RetentionPolicy


def test_every_kind_is_diagnosed_and_the_intended_id_is_shown(production, browser_client):
    diagnoses = {
        line["conversationId"]: (line["diagnosis"], line["found"], line["foundIn"])
        for line in tables(browser_client)["broken"]
    }
    assert diagnoses == {
        "undefined": ("placeholder", None, None),
        "s1": ("other-environment", "s1", "staging"),
        "s2": ("other-environment", "s2", "staging"),
        '"CONV_81xa"': ("altered", "conv_81Xa", "production"),
        "twin": ("altered", "Twin", "staging"),
        "never": ("never-seen", None, None),
    }


def test_diagnoses_are_counted_with_an_example_and_what_to_do(production, browser_client):
    first = tables(browser_client)["diagnoses"][0]
    assert (first["diagnosis"], first["foundIn"], first["brokenJoins"]) in {
        ("other-environment", "staging", 2), ("altered", None, 2),
    }  # fmt: skip
    assert sum(line["brokenJoins"] for line in tables(browser_client)["diagnoses"]) == 6
    assert all(line["advice"] and line["example"] for line in tables(browser_client)["diagnoses"])


def test_a_healed_join_shows_how_late_its_conversation_was(production, browser_client):
    (line,) = tables(browser_client)["healed"]
    assert (line["conversationId"], line["healedAfterSeconds"], line["diagnosis"]) == ("late", 3600, "late")
    assert line["healedAt"] - line["firstReportedAt"] == 3600


def test_the_page_shows_the_same_numbers(production, browser_client):
    html = browser_client.get(PAGE).content.decode()
    assert "1 to 6 of 6 broken joins" in html
    assert "median after 60 min, longest 60 min" in " ".join(html.split())
    assert "is known in <b>staging</b>" in html
    assert "<code>conv_81Xa</code>" in html


def test_causes_of_one_diagnosis_are_grouped_with_one_advice(production, workspace, browser_client):
    third = workspace.workspace.environments.exclude(name__in=["production", "staging"]).first()
    third = third or workspace.workspace.environments.create(name="test")
    register_conversations(third, [Arrival("t1")], now=timezone.now())
    record_outcomes(production, [Report("t1", "purchase")], now=timezone.now())
    kinds = [cause.kind for cause in causes_of(production)]
    assert kinds[:2] == ["other-environment"] * 2
    html = browser_client.get(PAGE).content.decode()
    assert html.count("The conversation is known in another environment of this workspace.") == 1
    assert "most broken joins first" in html


def test_a_link_to_another_environment_keeps_the_range(production, browser_client):
    html = browser_client.get(f"{PAGE}?range=7d").content.decode()
    assert html.count(f'href="{PAGE.replace("production/joins", "staging/conversation")}?range=7d&amp;id=s1"') == 1


def test_repeats_raise_the_reports_and_keep_the_first_time(production, browser_client):
    record_outcomes(production, [Report("never", "purchase")] * 3, now=timezone.now())
    (line,) = (line for line in tables(browser_client)["broken"] if line["conversationId"] == "never")
    assert line["reports"] == 4
    assert line["lastReportedAt"] - line["firstReportedAt"] in {3600, 3601}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("why=placeholder", {"undefined"}),
        ("why=other-environment", {"s1", "s2"}),
        ("why=other-environment&in=staging", {"s1", "s2"}),
        ("why=other-environment&in=nowhere", set()),
        ("in=staging", {"s1", "s2"}),
        ("in=nowhere", set()),
        ("why=altered", {'"CONV_81xa"', "twin"}),
        ("why=never-seen", {"never"}),
    ],
)
def test_a_diagnosis_filters_page_and_download(production, browser_client, query, ids):
    assert {line["conversationId"] for line in tables(browser_client, query)["broken"]} == ids
    html = browser_client.get(f"{PAGE}?{query}").content.decode()
    section = html.partition('id="joins"')[2].partition("</section>")[0]
    noun = "broken join" if len(ids) == 1 else "broken joins"
    assert bool(re.search(rf"1 to {len(ids)} of {len(ids)} {noun}\b", section)) == bool(ids)


def test_only_ids_that_another_environment_knows_are_filtered_by_the_environment(production, browser_client):
    query = "why=placeholder&in=staging"
    response = browser_client.get(f"{PAGE}.json?{query}")
    assert (response.status_code, response.json()["code"]) == (400, "invalid-request")
    assert "This page does not know in=staging, and ignores it." in " ".join(
        browser_client.get(f"{PAGE}?{query}").content.decode().split()
    )


def test_a_key_filters_page_and_download(production, browser_client):
    record_outcomes(production, [Report("lone", "of_its_own")], now=timezone.now())
    assert [line["conversationId"] for line in tables(browser_client, "key=of_its_own")["broken"]] == ["lone"]
    assert tables(browser_client, "key=of_its_ow")["broken"] == []
    page = read_html(browser_client.get(f"{PAGE}?key=of_its_own"))
    assert re.search(r"<b>1 of \d+ broken joins</b> are of the outcome key <code>of_its_own</code>", page)
    assert len(browser_client.get(f"{PAGE}?key=of_its_own").context["causes"]) == 1
    section = browser_client.get(f"{PAGE}?key=of_its_own").content.decode().partition('id="joins"')[2]
    assert re.search(r"1 to 1 of 1 broken join\b", section)


def test_a_key_has_its_causes_if_other_keys_have_all_of_the_newest_joins(production, browser_client, monkeypatch):
    record_outcomes(production, [Report("lone", "of_its_own")], now=timezone.now() - timedelta(hours=2))
    monkeypatch.setattr("outcomes.broken_joins.views.NEWEST_DIAGNOSED", 2)
    response = browser_client.get(f"{PAGE}?key=of_its_own")
    page = read_html(response)
    assert "<b>1 of 7 broken joins</b> are of the outcome key <code>of_its_own</code>" in page
    assert [row["cause"].count for row in response.context["causes"]] == [1]
    assert re.search(r"1 to 1 of 1 broken join\b", page.partition('id="joins"')[2])
    page = read_html(browser_client.get(f"{PAGE}?key=purchase"))
    assert "<b>6 of 7 broken joins</b>" in page
    assert "of the newest 2 of 6; the download has all" in page


@pytest.mark.parametrize(("sort", "order"), [("", "newest"), ("&sort=last", "latest")])
def test_a_filter_that_none_of_the_newest_joins_matches_does_not_say_that_there_is_none(
    production, browser_client, monkeypatch, sort, order
):
    record_outcomes(production, [Report("newer", "purchase")], now=timezone.now())
    monkeypatch.setattr("outcomes.broken_joins.views.NEWEST_DIAGNOSED", 1)
    page = read_html(browser_client.get(f"{PAGE}?why=placeholder{sort}"))
    card = page.partition('id="joins"')[2].partition("</section>")[0]
    assert f"No broken joins with the cause “placeholder” among the {order} 1." in card
    assert "in this period." not in card


def test_a_filter_without_joins_says_so_and_leads_out(workspace, production, browser_client):
    query = "why=other-environment&in=nowhere&range=7d"
    page = read_html(browser_client.get(f"{PAGE}?{query}"))
    card = page.partition('id="joins"')[2].partition("</section>")[0]
    name = ADVICE["other-environment"].name
    assert f"No broken joins with the cause “{name}, nowhere” in this period." in card
    assert '<a href="?range=7d#joins">Show all causes</a>' in card
    assert '<a href="?why=other-environment&amp;in=nowhere&amp;range=all#joins">Show all time</a>' in card
    assert "<table" not in card
    assert "0 to 0 of 0" not in page


@pytest.mark.parametrize("query", ["why=late", "why=nonsense", "why="])
def test_a_value_that_is_no_cause_of_a_broken_join_filters_nothing(production, browser_client, query):
    assert browser_client.get(f"{PAGE}?{query}").context["rows"].paginator.count == 6


def test_each_cause_shows_a_few_ids(production):
    causes = {cause.kind: cause for cause in causes_of(production)}
    assert set(causes["other-environment"].example_ids) == {"s1", "s2"}
    record_outcomes(production, [Report(f"gone {n}", "k") for n in range(9)], now=timezone.now())
    (unseen,) = (cause for cause in causes_of(production) if cause.kind == "never-seen")
    assert (unseen.count, len(unseen.example_ids)) == (10, 5)


def test_the_page_shows_two_ids_of_a_cause(production, browser_client):
    record_outcomes(production, [Report(f"gone-{n}", "k") for n in range(9)], now=timezone.now())
    card = browser_client.get(PAGE).content.decode().partition("<h2>Causes</h2>")[2].partition("</section>")[0]
    assert len(re.findall("<code>gone-[0-9]</code>", card)) == 2


def test_the_page_shows_as_many_ids_of_a_cause_as_the_code_says(production, browser_client, monkeypatch):
    monkeypatch.setattr(groups, "NAMED_IDS", 3)
    record_outcomes(production, [Report(f"gone-{n}", "k") for n in range(9)], now=timezone.now())
    card = browser_client.get(PAGE).content.decode().partition("<h2>Causes</h2>")[2].partition("</section>")[0]
    assert len(re.findall("<code>gone-[0-9]</code>", card)) == 3


def causes_of(environment):
    broken_joins = queries.find_broken_joins(environment, all_time())
    return group_by_cause(diagnosed_joins.diagnose_joins(environment, broken_joins))


def test_nothing_of_another_workspace_is_named(production, workspace, other_workspace, browser_client):
    theirs = environment_of(other_workspace, "production")
    register_conversations(theirs, [Arrival("never"), Arrival("undefined!"), Arrival("elsewhere")], now=timezone.now())
    record_outcomes(production, [Report("elsewhere", "purchase"), Report("ELSEWHERE", "purchase")], now=timezone.now())
    kinds = {line["conversationId"]: line["diagnosis"] for line in tables(browser_client)["broken"]}
    assert {kinds["elsewhere"], kinds["ELSEWHERE"], kinds["never"]} == {"never-seen"}


def test_an_outsider_sees_nothing(production, api, client, other_workspace):
    for address in (PAGE, f"{PAGE}.json", f"{PAGE}.csv?table=broken"):
        assert api.get(address, key=other_workspace.full_key).status_code == 404
    assert client.get(PAGE).status_code == 302
    own = read_tables(api.get("/w/other-shop/production/joins.json", key=other_workspace.full_key))
    assert own.pop("totals") == [{"period": "now", "brokenJoins": 0, "reported": 0}]
    assert not any(own.values())


def test_an_empty_page_has_the_lines_that_fill_it(browser_client, workspace):
    html = browser_client.get(PAGE).content.decode()
    assert "curl http://testserver/api/conversation-outcomes" in html
    assert f"{workspace.report_key[:12]}…" in html


def test_a_period_without_broken_joins_mentions_older_unresolved_ones(production, browser_client):
    later = timezone.now() + timedelta(days=1)
    register_conversations(production, [Arrival("later")], now=later)
    record_outcomes(production, [Report("later", "purchase")], now=later)
    html = browser_client.get(f"{PAGE}?from={later:%Y-%m-%d}&to={later:%Y-%m-%d}").content.decode()
    assert "No broken joins in this period" in html
    assert "Older broken joins are unresolved" in html


def test_a_period_without_reports_does_not_say_that_all_is_well(production, browser_client):
    html = browser_client.get(f"{PAGE}?from=2020-01-01&to=2020-01-02").content.decode()
    assert "Nothing was reported in this period" in html
    assert "No data before" in html
    assert "?range=all" in html
    assert "Every outcome" not in html


def test_joins_are_paged_and_all_exported(production, browser_client):
    record_outcomes(production, [Report(f"gone {n}", "purchase") for n in range(120)], now=timezone.now())
    assert "61 to 75 of 126 broken joins" in browser_client.get(f"{PAGE}?page=5").content.decode()
    assert len(tables(browser_client)["broken"]) == 126


def test_a_diagnosis_needs_no_more_queries_for_more_conversations(production, django_assert_max_num_queries):
    now = timezone.now()
    register_conversations(production, [Arrival(f"https://shop.example/{n}/chat") for n in range(400)], now=now)
    record_outcomes(production, [Report(f"{n}/chat", "purchase") for n in range(400)], now=now)
    with django_assert_max_num_queries(4):
        joins = list(diagnosed_joins.diagnose_joins(production, queries.find_broken_joins(production, all_time())))
    assert len(joins) == 406


def test_each_cause_has_its_key_and_its_first_date_of_any_period(workspace, browser_client):
    production, staging = environment_of(workspace, "production"), environment_of(workspace, "staging")
    key, other_key = workspace.workspace.api_keys.order_by("pk")[:2]
    now = timezone.now()
    began_at = now - timedelta(days=20)
    register_conversations(staging, [Arrival("s1"), Arrival("s2")], now=now)
    record_outcomes(production, [Report("s1", "purchase")], now=began_at, reported_by=key.pk)
    record_outcomes(production, [Report("s2", "purchase")], now=now, reported_by=key.pk)
    record_outcomes(production, [Report("undefined", "a"), Report("undefined", "b")], now=now, reported_by=key.pk)
    record_outcomes(production, [Report("undefined", "c")], now=now, reported_by=other_key.pk)
    text = read_html(browser_client.get(PAGE))
    card = text.partition("<h2>Causes</h2>")[2].partition("</section>")[0]
    elsewhere, placeholder = (
        card.partition(words)[2].partition("</tr>")[0] for words in (" other environment", " placeholder")
    )
    assert re.search(rf'by <a href="[^"]*/keys#key-{key.pk}" title="{key}">{key.name}</a>', elsewhere)
    assert f'first <time datetime="{began_at:%Y-%m-%dT%H:%M}' in elsewhere
    assert "or earlier" not in card
    assert f'last <time datetime="{now:%Y-%m-%dT%H:%M}' in elsewhere
    assert '<th scope="col" class="num">In this period</th>' in card
    assert f"{key.name}</a> (2)" in placeholder
    assert f"{other_key.name}</a> (1)" in placeholder
    exported = {row["diagnosis"]: row for row in tables(browser_client)["diagnoses"]}
    assert exported["other-environment"]["since"] == int(began_at.timestamp())
    assert exported["other-environment"]["oldestReportedAt"] == int(now.timestamp())
    assert exported["other-environment"]["lastReportedAt"] == int(now.timestamp())
    assert exported["placeholder"]["reportedBy"] == {str(key): 2, str(other_key): 1}


def test_the_advice_to_name_another_environment_says_that_it_is_archived(production, workspace, browser_client):
    note = "staging is archived: it refuses reports until it is restored."
    assert note not in browser_client.get(PAGE).content.decode()
    archive_environment(environment_of(workspace, "staging"), actor="ada", now=timezone.now())
    assert browser_client.get(PAGE).content.decode().count(note) == 1


@pytest.mark.parametrize(("days", "is_certain"), [(2, False), (12, False), (25, True)])
def test_a_cause_whose_first_joins_may_have_been_deleted_may_have_begun_earlier(
    workspace, browser_client, days, is_certain
):
    """The period is of 7 days. Of 25 days, all of the data are kept."""
    production, now = environment_of(workspace, "production"), timezone.now()
    for age in (20, 10, 1):
        record_outcomes(production, [Report("undefined", f"key-{age}")], now=now - timedelta(days=age))
    RetentionPolicy.objects.create(workspace=workspace.workspace, broken_joins=days)
    prune_all(now=now)
    (cause,) = tables(browser_client)["diagnoses"]
    assert cause["orEarlier"] is not is_certain
    assert ("or earlier" in browser_client.get(PAGE).content.decode()) is not is_certain


def test_ids_never_seen_are_split_into_those_that_may_heal_and_those_that_are_too_old(production, browser_client):
    now = timezone.now()
    record_outcomes(production, [Report(f"new-{n}", "purchase") for n in range(2)], now=now)
    record_outcomes(production, [Report(f"old-{n}", "purchase") for n in range(3)], now=now - timedelta(hours=5))
    record_outcomes(production, [Report("old-0", "refund")], now=now - timedelta(hours=4))
    words = (
        "Wait: 2 are younger than 60 min, the longest that any took to heal. "
        "Check where the ids of the other 5 come from."
    )
    page = read_html(browser_client.get(PAGE))
    assert words in page
    assert "heals by itself" not in page
    (row,) = (row for row in tables(browser_client)["diagnoses"] if row["diagnosis"] == "never-seen")
    assert (row["advice"], row["mayHeal"], row["idsThatMayHeal"]) == (words, 2, 2)
    assert (row["brokenJoins"], row["conversationIds"]) == (7, 6)
    old, new = (
        browser_client.get(f"/w/lumen-books/production/conversation?id={id_}").content.decode()
        for id_ in ("old-1", "new-1")
    )
    assert "Older than any that healed (the longest ever took 60 min): check where the id comes from." in old
    assert "heals by itself" in new
    assert "heals by itself" not in old


def read_footer(client, query: str = "") -> str:
    """Return the footer of the list of joins, which says how many there are."""
    page = client.get(f"{PAGE}?{query}").content.decode()
    footer = page.partition('<footer class="pages">')[2].partition("</footer>")[0]
    return " ".join(re.sub("<[^>]+>", " ", footer).split())


@pytest.mark.parametrize("diagnosed", [500, 8])
@pytest.mark.parametrize("sort", ["", "&sort=last"])
def test_the_list_says_how_many_ids_its_joins_name(production, browser_client, monkeypatch, diagnosed, sort):
    for module in ("views", "listed_joins"):
        monkeypatch.setattr(f"outcomes.broken_joins.{module}.NEWEST_DIAGNOSED", diagnosed)
    record_outcomes(production, [Report(id_, "refund") for id_ in ("s1", "s2", "never")], now=timezone.now())
    assert read_footer(browser_client, sort) == "1 to 9 of 9 broken joins of 6 conversation ids"
    assert read_footer(browser_client, f"key=refund{sort}") == "1 to 3 of 3 broken joins of 3 conversation ids"
    assert read_footer(browser_client, f"why=never-seen{sort}") == "1 to 2 of 2 broken joins of 1 conversation id"
    causes = {row["diagnosis"]: row for row in tables(browser_client, sort)["diagnoses"]}
    counts = causes["other-environment"]["brokenJoins"], causes["other-environment"]["conversationIds"]
    assert counts == (4, 2)
    text = " ".join(re.sub("<[^>]+>", " ", browser_client.get(PAGE).content.decode()).split())
    assert "4 2 ids" in text
    monkeypatch.setattr("outcomes.broken_joins.listed_joins.MAX_IDS_COUNTED", 4)
    least = "at least " if diagnosed == 8 else ""
    assert f"of 9 broken joins of {least}" in read_footer(browser_client, sort)


@pytest.mark.parametrize("diagnosed", [500, 3])
def test_the_list_has_no_pages_of_joins_that_retention_deleted(production, browser_client, monkeypatch, diagnosed):
    for module in ("views", "listed_joins"):
        monkeypatch.setattr(f"outcomes.broken_joins.{module}.NEWEST_DIAGNOSED", diagnosed)
    monkeypatch.setattr("outcomes.broken_joins.listed_joins.ROWS_PER_PAGE", 5)
    RetentionPolicy.objects.create(workspace=production.workspace, broken_joins=1)
    Outcome.objects.filter(environment=production, conversation__conversation_id="never").delete()
    assert read_footer(browser_client) == "1 to 5 of 5 broken joins of 5 conversation ids"
    text = " ".join(re.sub("<[^>]+>", " ", browser_client.get(PAGE).content.decode()).split())
    assert "Still broken 6" in text
    assert "Single broken joins are kept for 1 day; older ones are only counted." in text


def test_totals_of_a_period_in_which_nothing_was_reported_are_0_and_not_missing(production, browser_client):
    assert tables(browser_client, "from=2020-01-01&to=2020-01-31")["totals"] == [
        {"period": "now", "brokenJoins": 0, "reported": 0}
    ]
    register_conversations(production, [Arrival("early", timezone.now() - timedelta(days=400))], now=timezone.now())
    assert [row["period"] for row in tables(browser_client)["totals"]] == ["now", "before"]


def test_filter_links_have_the_order_of_the_table(production, browser_client):
    record_outcomes(production, [Report(f"gone-{n}", "purchase") for n in range(4)], now=timezone.now())
    page = browser_client.get(PAGE).content.decode()
    causes, joins = (page.partition(words)[2].partition("</section>")[0] for words in ("<h2>Causes</h2>", 'id="joins"'))
    of_table = list(dict.fromkeys(re.findall(r"\?why=([a-z-]+)", causes)))
    of_filters = re.findall(r"\?why=([a-z-]+)", joins)
    assert of_table == of_filters
    assert of_table[0] == "never-seen"


def test_the_question_mark_of_causes_explains_causes(production, browser_client):
    page = browser_client.get(PAGE).content.decode()
    assert 'aria-label="Explain cause"' in page
    assert "<b>Cause, or diagnosis</b>: why a broken join is broken" in page


def test_links_to_the_list_of_joins_have_one_target_even_if_no_join_is_listed(production, browser_client):
    """These links end with `#joins`."""
    for query in ("", "?key=of-no-join"):
        assert browser_client.get(f"{PAGE}{query}").content.decode().count('id="joins"') == 1


def test_the_causes_that_are_downloaded_are_those_of_the_key_on_the_page(production, browser_client):
    now = timezone.now()
    record_outcomes(production, [Report("never-2", "refund")], now=now)
    record_outcomes(production, [Report("never-3", "refund"), Report("s1", "refund")], now=now - timedelta(days=9))
    record_outcomes(production, [Report("never", "purchase")], now=now)
    page = read_html(browser_client.get(f"{PAGE}?key=refund"))
    card = page.partition("<h2>Causes</h2>")[2].partition("</section>")[0]
    assert " placeholder" not in card
    (row,) = tables(browser_client, "key=refund")["diagnoses"]
    assert (row["diagnosis"], row["brokenJoins"], row["example"]) == ("never-seen", 1, "never-2")
    assert row["since"] == int((now - timedelta(days=9)).timestamp())


def test_the_links_to_diagnoses_count_the_joins_that_they_lead_to(workspace, browser_client):
    """The filter by API key stays when one of these links is followed."""
    production, now = environment_of(workspace, "production"), timezone.now()
    key, other_key = workspace.workspace.api_keys.order_by("pk")[:2]
    ids = ["undefined", "null", "gone"]
    record_outcomes(production, [Report(id_, "purchase") for id_ in ids], now=now, reported_by=other_key.pk)
    record_outcomes(production, [Report("one", "purchase"), Report("nil", "refund")], now=now, reported_by=key.pk)
    page = browser_client.get(f"{PAGE}?by={key.prefix}").content.decode()
    assert re.findall(r">([a-z ]+) · ([\d,]+)</a>", page) == [("never seen", "1"), ("placeholder", "1")]
    assert read_footer(browser_client, f"by={key.prefix}&why=placeholder").startswith("1 to 1 of 1 broken join")
