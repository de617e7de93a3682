"""Every page, light and dark, wide and narrow: axe and the console report nothing, and nothing overflows."""

import pytest
from axe_playwright_python.sync_playwright import Axe

# The rules whose result another colour scheme can change
COLOUR_RULES = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
PAGES = {
    "overview": "/overview",
    "catalog": "/catalog",
    "operation": "/operation?method=GET&path=/orders/{orderId}",
    "property": "/property?method=GET&path=/orders/{orderId}&part=200&at=/customer/email",
    "drift": "/drift",
    "difference": "/difference?against=staging",
    "rules": "/rules",
    "outcomes": "/outcomes",
    "one outcome": "/outcome?key=purchase",
    "conversation": "/conversation?id=conv_1",
    "broken join": "/conversation?id=undefined",
    "broken joins": "/joins",
    "rejections": "/rejections",
    "tool call": "/toolcall?id=call_expired",
    "search": "/search?q=o",
    "confirmations": "/confirmations",
    "inspector": "/inspector",
    "annotations": "/annotations",
    "shared links": "/shared-links",
    "API docs": "/api",
    "glossary": "/glossary",
    "alerts": "/alerts?kind=rejections.spike",
    "deliveries": "/deliveries",
}


@pytest.mark.parametrize(("width", "schemes"), [(1280, ("light", "dark")), (390, ("dark", "light"))])
def test_axe_and_the_console_find_nothing_and_nothing_is_loaded_from_elsewhere(new_tab, filled, width, schemes):
    """Each page is loaded in one colour scheme and then switched to the other."""
    tab = new_tab(width=width)
    requested: list[str] = []
    tab.page.on("request", lambda request: requested.append(request.url))
    addresses = {name: filled + address for name, address in PAGES.items()}
    for page_of_rows, name in (("rejections?range=all", "rejection"), ("drift?range=all", "change")):
        row_link = tab.open(f"{filled}/{page_of_rows}").locator(f"a[href*='/{name}?']").first
        addresses[name] = row_link.get_attribute("href")
    for name, address in addresses.items():
        tab.page.emulate_media(color_scheme=schemes[0])
        requested.clear()
        page = tab.open(address)
        assert requested, name
        assert [url for url in requested if not url.startswith(f"{tab.base}/")] == [], name
        assert page.locator("h1").count() == 1, name
        for scheme, options in zip(schemes, ({}, COLOUR_RULES), strict=True):
            page.emulate_media(color_scheme=scheme)
            violations = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
            faults = [(rule["id"], [node["html"][:120] for node in rule["nodes"]][:3]) for rule in violations]
            assert faults == [], f"{name}, {scheme}, {width}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} overflows at {width}"
    assert tab.complaints == []


def test_empty_pages_show_the_next_step_and_have_no_faults(new_tab, transactional_db, workspace):
    tab = new_tab()
    start = f"/w/{workspace.workspace.slug}/staging"
    for name in ("overview", "catalog", "outcomes", "joins", "rejections"):
        page = tab.open(f"{start}/{name}")
        assert Axe().run(page).response["violations"] == [], name
    for name in ("catalog", "outcomes", "rejections"):
        text = tab.open(f"{start}/{name}").inner_text("main")
        assert workspace.report_key[:12] in text or workspace.platform_key[:12] in text or "affidavit har" in text, name
        assert workspace.full_key not in text
    assert tab.complaints == []


def test_charts_are_drawn_without_a_button_that_uploads_them(new_tab, filled):
    tab = new_tab()
    for name in ("overview", "outcomes", "rejections"):
        page = tab.open(f"{filled}/{name}")
        page.wait_for_selector(".plot svg.main-svg", timeout=10_000)
        assert page.locator("[data-title*='hare'], [data-title*='loud'], [data-title*='Plotly']").count() == 0
    assert tab.complaints == []


def test_every_page_works_without_javascript(new_tab, filled):
    tab = new_tab(javascript=False)
    for name, address in PAGES.items():
        page = tab.open(filled + address)
        assert page.locator("main table, main .tree, main form, main .empty").count() > 0, name
    tab.open(f"{filled}/overview").get_by_role("link", name="Catalog").first.click()
    assert "/catalog" in tab.page.url
