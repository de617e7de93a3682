"""`make screenshots`: every page of the sample workspace, light and dark, on a screen and on a phone."""

from __future__ import annotations

import base64
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.hub.hub_process import ROOT, Hub, read_process

FOLDER = ROOT / "docs/screenshots"
SIZES = {"screen": (1280, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WEBP_QUALITY = 50
OUTSIDE = {"account": "/account", "new-workspace": "/workspaces/new", "not-found": "/no-such-page"}
FOR_STRANGERS = {"sign-in": "/sign-in", "reset-password": "/account/password/reset"}
EMPTY_PAGES = ("overview", "catalog", "drift", "outcomes", "joins", "rejections", "confirmations")
RELEASE_SECONDS = 600
RELEASE_CHANGES = 3  # how many of the release's four drift changes to wait for


@contextmanager
def run_sample_hub() -> Iterator[Hub]:
    """Run a new hub with the sample workspace, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        hub = Hub(Path(folder), probe.getsockname()[1], settings={"HUB_SAMPLE": "1"})
        probe.close()
        try:
            hub.start(seconds=180)
            wait_for_history(hub)
            yield hub
        finally:
            hub.kill()


def wait_for_history(hub: Hub) -> None:
    """Wait until the process that writes the 30 days of the sample has ended."""
    while any(b"sample_history" in read_process(pid, "cmdline") for pid in hub.processes()):
        time.sleep(1)


def sign_in(context: BrowserContext, hub: Hub) -> str:
    """Sign in as the operator; return the address of the sample's overview."""
    page = context.new_page()
    page.goto(hub.create_sign_in_link())
    page.locator("main button").click()
    page.wait_for_url("**/overview*")
    page.locator(".plot svg.main-svg").first.wait_for(timeout=120_000)
    address = page.url.split("?")[0]
    page.close()
    return address


def wait_for_release(page: Page, start: str) -> None:
    """Wait for the drift of the shop's release, which comes some minutes after the workspace."""
    address = f"{start.rpartition('/')[0]}/drift"
    for _ in range(RELEASE_SECONDS // 10):
        page.goto(address)
        if page.locator("main a[href*='/change?']").count() >= RELEASE_CHANGES:
            return
        time.sleep(10)
    raise SystemExit("The sample's release brought no drift.")


def find_pages(page: Page, start: str) -> dict[str, str]:
    """Return the address of each page by the page's name. If several links lead to a page, take the first."""
    folder = urlsplit(start).path.rsplit("/", 1)[0]
    addresses = {"overview": start}
    unread = ["overview"]
    while unread:
        page.goto(addresses[unread.pop(0)])
        for link in page.locator("a[href]").evaluate_all("links => links.map((link) => link.href)"):
            parts = urlsplit(link)
            name = parts.path.removeprefix(f"{folder}/")
            if parts.path.startswith(f"{folder}/") and name.replace("-", "").isidentifier() and name not in addresses:
                addresses[name] = link.split("#")[0]
                unread.append(name)
    return addresses


def find_variants(page: Page, addresses: dict[str, str]) -> dict[str, str]:
    """Return the addresses of further states of some pages: a form that is filled in, or something that is chosen."""
    page.goto(addresses["rejection"])
    inspector = page.get_by_role("link", name="Open in inspector").get_attribute("href")
    page.goto(addresses["outcomes"])
    step = page.locator("#funnel a[href*='step=']").get_attribute("href")
    page.goto(urljoin(page.url, step))
    lost = page.locator("#funnel a[href*='lost=']").first.get_attribute("href")
    return {
        "audit": f"{addresses['audit'].split('?')[0]}?range=all",  # all time, because the last days have no entries
        "inspector-filled": urljoin(addresses["rejection"], inspector),
        "funnel": urljoin(addresses["outcomes"], lost.replace("#lost", "#funnel")),
        "outcomes-compared": f"{addresses['outcomes'].split('?')[0]}?compare=staging",
        "alert-preview": f"{addresses['alerts'].split('?')[0]}?kind=broken-joins.spike#preview",
    }


def create_shared_page(page: Page, address: str) -> str:
    """Share a page; return the address for those who have no account."""
    page.goto(address)
    page.locator("summary", has_text="Share").click()
    page.get_by_role("button", name="Make the link").click()
    return page.locator("#new-link").inner_text()


def create_empty_workspace(page: Page, root: str) -> dict[str, str]:
    """Create a workspace without data; return the addresses of pages that say what to do first."""
    page.goto(f"{root}/workspaces/new")
    page.get_by_label("Name").fill("Tea House")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url("**/workspaces/new/*")
    slug = page.url.rpartition("/")[2]
    return {f"empty-{name}": f"{root}/w/{slug}/production/{name}" for name in EMPTY_PAGES}


def shoot(page: Page, address: str, path: Path) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    if page.locator("[data-figure]").count():
        page.locator(".plot svg.main-svg").first.wait_for(timeout=30_000)
    session = page.context.new_cdp_session(page)
    image = session.send("Page.captureScreenshot", {"format": "webp", "quality": WEBP_QUALITY})
    path.write_bytes(base64.b64decode(image["data"]))


def write_screenshots(browser: Browser, hub: Hub, folder: Path) -> int:
    """Write one image for each page, width and scheme; return how many."""
    member, stranger = (browser.new_context(timezone_id="UTC", locale="en-GB") for _ in range(2))
    start = sign_in(member, hub)
    page = member.new_page()
    wait_for_release(page, start)
    root = start.partition("/w/")[0]
    addresses = find_pages(page, start)
    addresses |= find_variants(page, addresses)
    addresses |= {name: root + path for name, path in OUTSIDE.items()}
    open_to_all = {name: root + path for name, path in FOR_STRANGERS.items()}
    open_to_all["shared-page"] = create_shared_page(page, addresses["outcomes"])
    addresses |= create_empty_workspace(page, root)
    count = shoot_all(page, addresses, folder)
    return count + shoot_all(stranger.new_page(), open_to_all, folder)


def shoot_all(page: Page, addresses: dict[str, str], folder: Path) -> int:
    for name, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of its literals
            for page_name, address in addresses.items():
                shoot(page, address, folder / f"{page_name}-{name}-{scheme}.webp")
    return len(addresses) * len(SIZES) * len(SCHEMES)


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("There is no Chromium on this machine. Install it, then call again.", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.webp"):
        path.unlink()
    with run_sample_hub() as hub, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        count = write_screenshots(browser, hub, FOLDER)
        browser.close()
    print(f"{count} screenshots are in {FOLDER.relative_to(ROOT)}/.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
