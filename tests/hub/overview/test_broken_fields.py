"""The overview names the fields that broke and were not acknowledged, and since when."""

import re
from datetime import timedelta

from django.utils import timezone

from catalog.models import Drift
from tests.hub.overview.overview_page import break_orders
from tests.page_text import read_html
from workspaces.models import Annotation


def test_broken_fields_are_listed_with_their_operation_and_link_to_the_feed(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    page = overview()
    assert "1 field broke</b> in 1 operation:" in page
    assert re.search(rf'<a href="[^"]*/change\?id={change.pk}"><code class="path">GET /orders/<wbr>{{orderId}}<', page)
    assert "</a>, detected <time" in page
    assert '<b class="bad">1 field broke</b>' in page  # as serious as a rise of rejections
    assert "/drift?breaking=1&amp;new=1" in page
    Drift.objects.update(acknowledged_at=timezone.now())
    assert "no breaking change to acknowledge" in overview()


def test_a_field_that_broke_twice_counts_once_everywhere(overview, browser_client, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    for kind, pointer in (
        ("optional", change.pointer),
        ("quiet", change.pointer),
        ("quiet", "/a"),
        ("quiet", "/b"),
        ("quiet", "/c"),
    ):
        change.pk, change.kind, change.pointer = None, kind, pointer
        change.save()
    page = overview()
    assert "4 fields broke</b> in 1 operation:" in page
    named = re.findall(
        r"<code>(/\w+)</code></a>", page.partition("fields broke</b>")[2].partition("See what changed")[0]
    )
    assert named == ["/c", "/b", "/a"]
    assert "and 1 more, the first detected" in page
    assert re.search(r'title="fields broken and not acknowledged, in this period">\s*4<', page)
    feed = read_html(browser_client.get("/w/lumen-books/production/drift"))
    assert re.search(r"6 in this period, \d breaking: 4 fields broken, 4 of them neither acknowledged nor muted", feed)


def test_fields_that_broke_earlier_do_not_date_those_that_broke_last(overview, api, workspace):
    break_orders(api, workspace)
    change = Drift.objects.get(kind="type")
    released = change.at - timedelta(minutes=5)
    Annotation.objects.create(workspace=workspace.workspace, at=released, text="Release 5.0", created_at=released)
    change.pk, change.pointer, change.at = None, "/old", change.at - timedelta(hours=3)
    change.save()
    page = overview()
    assert "2 fields broke</b> in 1 operation:" in page
    sentence = page.partition("fields broke</b>")[2].partition("See what changed")[0]
    recent, _, earlier = sentence.partition("); ")
    assert "/old" not in recent
    assert re.search(r"detected after Release 5.0 \(<time[^>]*>[^<]*</time>$", recent)
    assert re.search(r"<code>/old</code></a>, <time[^>]*>[^<]*</time>[.]", earlier)


def test_broken_fields_name_annotations_shortly_before(overview, api, workspace):
    break_orders(api, workspace)
    detected_at = Drift.objects.get(kind="type").at
    for hours, text in ((3, "Release 4.9"), (0.5, "Release 5.0"), (-0.5, "Release 5.1")):
        at = detected_at - timedelta(hours=hours)
        Annotation.objects.create(workspace=workspace.workspace, at=at, text=text, created_at=at)
    assert "</a>, detected after Release 5.0 (<time" in overview()
