"""Run a real Chromium against a real server. Without a Chromium, tests are skipped, or fail with REQUIRE_BROWSER=1."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, sync_playwright

from tests.sample_data import fill_workspace
from workspaces.create import NewWorkspace

# Playwright runs an event loop on this thread, so Django would refuse database access as in async code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# The tests use the first program that is installed. The first of the list has no windows, and needs a third less
# processor time than the others.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/browser/" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")  # Playwright's event loop must not outlive the browser tests
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    with run_chromium(playwright) as browser:
        yield browser


@contextmanager
def run_chromium(playwright: Playwright, *more_flags: str) -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        reason = "there is no Chromium on this machine"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(f"REQUIRE_BROWSER is set, and {reason}")
        pytest.skip(reason)
    browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *more_flags])
    yield browser
    browser.close()


@dataclass
class Tab:
    """One page of a browser, and the errors of its console and its scripts."""

    page: Page
    base: str
    complaints: list[str]

    def open(self, address: str) -> Page:
        self.page.goto(self.base + address)
        self.page.wait_for_load_state("networkidle")
        return self.page


@pytest.fixture
def new_tab(chromium: Browser, live_server: Any) -> Iterator[Any]:
    """Yield `new_tab(width=1280, scheme="light", javascript=True, zone="UTC", signed_in=True)`, which makes a tab."""
    contexts: list[BrowserContext] = []

    def make(
        *, width: int = 1280, scheme: str = "light", javascript: bool = True, zone: str = "UTC", signed_in: bool = True
    ) -> Tab:
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=javascript,
            locale="en-US", timezone_id=zone,
        )  # fmt: skip
        contexts.append(context)
        if signed_in:
            sign_in(context, live_server.url)
        page = context.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if is_complaint(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return Tab(page, live_server.url, complaints)

    yield make
    for context in contexts:
        context.close()


def is_complaint(message: ConsoleMessage) -> bool:
    """Tell whether a message of the console is an error. A request that a newer one replaced is none.

    htmx logs two lines for it. The first of them comes before a failed request's own line, too, which is a complaint.
    """
    return message.type == "error" and not message.text.startswith(("htmx:sendAbort", "htmx:afterRequest"))


def sign_in(context: BrowserContext, url: str) -> None:
    operator, _ = get_user_model().objects.get_or_create(username="operator", defaults={"is_superuser": True})
    client = Client()
    client.force_login(operator)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": url}])


@pytest.fixture
def start_of_pages(transactional_db: None, workspace: NewWorkspace, api: Any) -> str:
    """Create a workspace with something on every page. Return the start of its pages' addresses."""
    return fill_workspace(workspace, api)
