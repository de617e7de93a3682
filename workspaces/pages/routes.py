"""The pages that have an address, by their names. `page_paths` fills these lists when the addresses are loaded."""

from __future__ import annotations

from typing import NamedTuple

from workspaces.pages.page import View


class Route(NamedTuple):
    """The arguments with which `page_paths` was called for one page."""

    name: str
    view: View
    role: str
    is_current: bool


SHAREABLE_PAGES: dict[str, Route] = {}
"""The pages that a shared link may show, by name."""
PAGE_NAMES: set[str] = set()
