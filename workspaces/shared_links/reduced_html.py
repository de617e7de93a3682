"""Reduce a page to its readable content: no link, no form, no script but the data of charts (pure).

Only listed elements are kept, so a new kind of control on a page does not leak.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from html.parser import HTMLParser

KEPT_TAGS = {
    "abbr", "aside", "b", "bdi", "br", "caption", "code", "col", "colgroup", "dd", "details", "div", "dl", "dt", "em",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "header", "hr", "i", "kbd", "li", "mark", "meter", "ol",
    "p", "pre", "section", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th",
    "thead", "time", "tr", "ul", "wbr",
}  # fmt: skip
KEPT_ATTRIBUTES = {
    "class", "colspan", "data-figure", "data-is", "data-marks", "data-plotly", "datetime", "dir", "high", "id", "lang",
    "low", "max", "min", "open", "optimum", "role", "rowspan", "scope", "start", "tabindex", "title", "value",
}  # fmt: skip
VOID_TAGS = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
}  # fmt: skip
DROPPED_CLASSES = {"btn", "code", "exports", "filters", "menu"}  # code to copy contains beginnings of API keys
# Marks parts that no shared page shows: ids of conversations and calls, names of members, links to other pages.
PRIVATE = "data-private"
UNSEEN = {PRIVATE, "hidden", "popover"}  # attributes of elements that are dropped
FIGURE_TYPE = "application/json"  # the type of a script that holds the data of a chart

Attributes = Sequence[tuple[str, str | None]]


def reduce_main(html: str) -> str:
    """Return the content of the page's <main> as plain HTML. Links become their text; controls are dropped."""
    reducer = _Reducer()
    reducer.feed(html)
    reducer.close()
    return "".join(reducer.chunks)


class _Reducer(HTMLParser):
    """A parser that reduces HTML.

    chunks: the HTML to keep.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.chunks: list[str] = []
        self._open_tags: list[tuple[str, str]] = []  # of open elements to keep: (tag in the page, tag to write)
        self._is_facts: list[bool] = []
        self._is_inside = False  # of <main>
        self._dropped_element = ("", 0)  # the tag of an element that is dropped, and how many of that tag are open

    def handle_starttag(self, tag: str, attributes: Attributes) -> None:
        if not self._is_inside:
            self._is_inside = tag == "main"
            return
        dropped_tag, depth = self._dropped_element
        if depth:
            self._dropped_element = (dropped_tag, depth + (tag == dropped_tag))
            return
        values = {name: value or "" for name, value in attributes}
        written_tag = self._choose_tag(tag, values)
        if not written_tag:
            self._dropped_element = (tag, 0 if tag in VOID_TAGS else 1)
            return
        self.chunks.append(f"<{written_tag}{''.join(_format_attributes(written_tag, attributes))}>")
        if tag not in VOID_TAGS:
            self._open_tags.append((tag, written_tag))
            self._is_facts.append("facts" in values.get("class", "").split())

    def _choose_tag(self, tag: str, values: dict[str, str]) -> str:
        """Return the tag that is written for an element; empty if it is dropped with all that it holds.

        A popover is dropped with the button that opens and closes it: without the button, it would always be open.
        What only a script of the page would show is dropped, too.
        """
        if not UNSEEN.isdisjoint(values) or not DROPPED_CLASSES.isdisjoint(values.get("class", "").split()):
            return ""
        if tag == "a":
            # A link that only changes the state of the page is a control, and so is one in the heading of a card. The
            # heading of a sortable column is kept as a heading.
            is_action = self._is_within("header") or (
                values.get("href", "?").startswith("?") and not self._is_within("th")
            )
            return "" if is_action else "div" if self._is_facts and self._is_facts[-1] else "span"
        if tag == "script":
            return tag if values.get("type") == FIGURE_TYPE else ""
        return tag if tag in KEPT_TAGS else ""

    def _is_within(self, tag: str) -> bool:
        return any(open_tag == tag for open_tag, _ in self._open_tags)

    def handle_endtag(self, tag: str) -> None:
        dropped_tag, depth = self._dropped_element
        if depth:
            self._dropped_element = (dropped_tag, depth - (tag == dropped_tag))
        elif self._is_inside and tag == "main" and not self._is_within("main"):
            self._is_inside = False
        elif self._open_tags and self._open_tags[-1][0] == tag:
            self.chunks.append(f"</{self._open_tags.pop()[1]}>")
            self._is_facts.pop()

    def handle_data(self, data: str) -> None:
        if self._is_inside and not self._dropped_element[1]:
            # The JSON of a figure holds no <, >, or &: Django has written them as escapes of JSON.
            is_figure = bool(self._open_tags) and self._open_tags[-1][0] == "script"
            self.chunks.append(data if is_figure and "<" not in data else escape(data, quote=False))


def _format_attributes(written_tag: str, attributes: Attributes) -> Iterator[str]:
    for name, value in attributes:
        is_figure_type = written_tag == "script" and name == "type"
        if name in KEPT_ATTRIBUTES or name.startswith("aria-") or is_figure_type:
            yield f' {name}="{escape(value or "")}"'
