"""Every page, light and dark, wide and narrow: axe and the console report nothing, and nothing overflows."""

import uuid

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from tests.browser.conftest import sign_in
from tests.page_queries import list_page_names
from workspaces.models import Workspace
from workspaces.people.invitations.invite import invite

NARROWER = {1280: (1024, 768), 390: (320,)}  # half a screen, a tablet; 320 px is 1280 px at 400 % (WCAG 1.4.10)
# The rules whose result depends on the colour scheme
COLOUR_RULES = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
WITH_TARGET_SIZE = {"rules": {"target-size": {"enabled": True}}}  # WCAG 2.5.8, which axe does not check by itself
LOADED_AXE = Axe(axe_script="")  # for a page in which axe is loaded already
PAGES = {
    "overview": "/overview",
    "catalog": "/catalog",
    "operation": "/operation?method=GET&path=/orders/{orderId}&open=template&open=baseline&open=hints",
    "property": "/property?method=GET&path=/orders/{orderId}&part=200&at=/customer/email",
    "drift": "/drift",
    "difference": "/difference?against=staging",
    "rules": "/rules",
    "outcomes": "/outcomes",
    "chosen dates": "/outcomes?from=2026-10-28&to=2026-11-22",
    "one outcome": "/outcome?key=purchase",
    "conversation": "/conversation?id=conv_1",
    "broken join": "/conversation?id=undefined",
    "broken joins": "/joins",
    "rejections": "/rejections",
    "tool call": "/toolcall?id=call_expired",
    "search": "/search?q=o",
    "confirmations": "/confirmations",
    "tool calls": "/toolcalls",
    "inspector": "/inspector",
    "annotations": "/annotations",
    "shared links": "/shared-links",
    "API docs": "/api",
    "glossary": "/glossary",
    "alerts": "/alerts?kind=rejections.spike",
    "deliveries": "/deliveries",
    "keys": "/keys",
    "refused requests": "/refused-requests",
    "secrets": "/secrets",
    "environments": "/environments",
    "members": "/members",
    "retention": "/retention",
    "audit log": "/audit?kind=all",
}
FOR_MEMBERS = (
    "/workspaces/new",
    "/account",
    "/account/password",
    "/account/second-factor",
    "/account/confirm?next=/account/second-factor/app/add",
    "/no-such-page",
)
FOR_STRANGERS = (
    "/sign-in",
    "/sign-in/unknown",
    "/account/password/reset",
    "/account/password/reset/sent",
    "/invitations/unknown",
    "/api/docs",
    "/no-such-page",
)


@pytest.mark.parametrize(("width", "schemes"), [(1280, ("light", "dark")), (390, ("dark", "light"))])
def test_axe_and_the_console_find_nothing_and_nothing_is_loaded_from_elsewhere(new_tab, start_of_pages, width, schemes):
    """Each page is loaded in one colour scheme and then switched to the other."""
    tab = new_tab(width=width)
    requested: list[str] = []
    tab.page.on("request", lambda request: requested.append(request.url))
    addresses = {name: start_of_pages + address for name, address in PAGES.items()}
    for page_of_rows, name in (("rejections?range=all", "rejection"), ("drift?range=all", "change")):
        row_link = tab.open(f"{start_of_pages}/{page_of_rows}").locator(f"a[href*='/{name}?']").first
        addresses[name] = row_link.get_attribute("href")
    for name, address in addresses.items():
        tab.page.emulate_media(color_scheme=schemes[0])
        requested.clear()
        tab.open(address)
        assert requested, name
        assert [url for url in requested if not url.startswith(f"{tab.base}/")] == [], name
        check_page(tab.page, name, width, schemes)
    assert tab.complaints == []


def check_page(page, name, width, schemes):
    """Check a page in the colour scheme that it was opened in, and then in the other."""
    assert page.locator("h1").count() == 1, name
    for scheme, axe, options in zip(schemes, (Axe(), LOADED_AXE), (WITH_TARGET_SIZE, COLOUR_RULES), strict=True):
        page.emulate_media(color_scheme=scheme)
        violations = axe.run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
        faults = [(rule["id"], [node["html"][:120] for node in rule["nodes"]][:3]) for rule in violations]
        assert faults == [], f"{name}, {scheme}, {width}"
    for fitted in (width, *NARROWER[width]):
        page.set_viewport_size({"width": fitted, "height": 900})
        assert fits_soon(page), f"{name} overflows at {fitted}"
    page.set_viewport_size({"width": width, "height": 900})


FITS = """() => document.documentElement.scrollWidth <= innerWidth
    && (innerWidth > 720
        || [...document.querySelectorAll(".phone-rows")].every((list) => list.scrollWidth <= list.clientWidth))
"""


def fits_soon(page):
    """Return whether the page becomes no wider than its window, and on a phone no list wider than its card.

    Charts adapt to the window after a moment.
    """
    for _ in range(50):
        if page.evaluate(FITS):
            return True
        page.wait_for_timeout(100)
    return False


def test_the_open_menus_of_the_top_bar_have_no_faults(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/overview")
    page.locator(".top .menu > summary").first.wait_for()
    page.evaluate("document.querySelectorAll('.top .menu').forEach((menu) => menu.open = true)")
    assert [rule["id"] for rule in Axe().run(page).response["violations"]] == []


def test_a_link_behind_the_name_of_a_new_property_is_underlined(new_tab, start_of_pages, workspace, api):
    gift = {"type": "object", "properties": {"gift": {"type": "boolean"}}}
    observation = {"method": "POST", "path": "/orders", "status": 201, "count": 1, "response": gift}
    report = {"reportId": str(uuid.uuid4()), "observations": [observation]}
    assert api.post("/api/witness-reports", report).status_code == 202
    fold_reports(workspace.workspace.environments.get(name="production"), now=timezone.now())
    page = new_tab().open(f"{start_of_pages}/overview")
    link = page.get_by_role("link", name="new: boolean")
    assert link.evaluate("link => getComputedStyle(link).textDecorationLine") == "underline"


def test_no_page_of_a_workspace_is_left_out():
    opened = {address.strip("/").partition("?")[0] for address in PAGES.values()}
    assert set(list_page_names()) - opened == {"rejection", "change"}  # the test above finds these by links in rows


@pytest.mark.parametrize("width", [1280, 390])
def test_the_pages_that_add_a_second_factor_are_as_clean(new_tab, transactional_db, width):
    tab = new_tab(width=width)
    operator = get_user_model().objects.get()
    operator.set_password("a long enough secret")
    operator.save()
    sign_in(tab.page.context, tab.base)  # setting the password has ended the session
    page = tab.open("/account/second-factor/app/add")
    page.get_by_label("Password").fill("a long enough secret")
    page.keyboard.press("Enter")
    for address in ("/account/second-factor/app/add", "/account/second-factor/passkeys/add"):
        page.wait_for_url(tab.base + address)
        page.emulate_media(color_scheme="light")
        check_page(page, address, width, ("light", "dark"))
        tab.open("/account/second-factor/passkeys/add")
    assert tab.complaints == []


@pytest.mark.parametrize(("width", "schemes"), [(1280, ("light", "dark")), (390, ("dark", "light"))])
def test_pages_outside_of_a_workspace_are_as_clean(new_tab, start_of_pages, settings, width, schemes):
    settings.EMAIL_URL = "consolemail://"
    _, token = invite(Workspace.objects.get(), "ada@example.com", "viewer", actor="test", now=timezone.now())
    for is_member, addresses in ((True, FOR_MEMBERS), (False, (*FOR_STRANGERS, f"/invitations/{token}"))):
        tab = new_tab(width=width, scheme=schemes[0], signed_in=is_member)
        for address in addresses:
            tab.page.emulate_media(color_scheme=schemes[0])
            tab.open(address)
            assert tab.page.url == tab.base + address
            check_page(tab.page, address, width, schemes)
        # Chromium itself reports that a page was not found.
        assert [text for text in tab.complaints if "404" not in text and "410" not in text] == []


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


def test_charts_are_drawn_without_a_button_that_uploads_them(new_tab, start_of_pages):
    tab = new_tab()
    for name in ("overview", "outcomes", "rejections"):
        page = tab.open(f"{start_of_pages}/{name}")
        page.wait_for_selector(".plot svg.main-svg", timeout=10_000)
        assert page.locator("[data-title*='hare'], [data-title*='loud'], [data-title*='Plotly']").count() == 0
    assert tab.complaints == []


def test_every_page_works_without_javascript(new_tab, start_of_pages):
    tab = new_tab(javascript=False)
    for name, address in PAGES.items():
        page = tab.open(start_of_pages + address)
        assert page.locator("main table, main .tree, main form, main .empty, main .line").count() > 0, name
    tab.open(f"{start_of_pages}/overview").get_by_role("link", name="Catalog").first.click()
    assert "/catalog" in tab.page.url
