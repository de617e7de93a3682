"""The reduced HTML of a page for somebody who may only read it."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from workspaces.shared_links.reduced_html import KEPT_TAGS, reduce_main


def reduce(html):
    return reduce_main(f"<html><body><nav>outside</nav><main id=main>{html}</main><p>outside</p></body></html>")


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<h1 class="mono">a &lt; b</h1>', '<h1 class="mono">a &lt; b</h1>'),
        ('<td data-is="x" onclick="y()" style="z" hx-get="/">1</td>', '<td data-is="x">1</td>'),
        ('<a href="/w/a/b/keys">text</a>', "<span>text</span>"),
        ('<p>a <a href="?range=all">Show all time</a></p>', "<p>a </p>"),
        ('<header><h2>a</h2><a href="/x">All</a></header>', "<header><h2>a</h2></header>"),
        ('<th><a href="?sort=path">Path</a></th>', "<th><span>Path</span></th>"),
        ('<div class="facts"><a href="/x"><div>7</div></a></div>', '<div class="facts"><div><div>7</div></div></div>'),
        ('<a class="btn" href="/x">Act</a><button>Act</button>', ""),
        ('<form action="/x"><table><tr><td>1</td></tr></table></form>b', "b"),
        ("<label>a<input name=b><select><option>c</select></label>d", "d"),
        ("<section data-private><section>conv_1</section></section><p>b</p>", "<p>b</p>"),
        ("<script>alert(1)</script><script src='/x.js'></script><style>*{}</style>", ""),
        (
            '<script id="f" type="application/json">{"a": "\\u003Cb\\u003E"}</script>',
            '<script id="f" type="application/json">{"a": "\\u003Cb\\u003E"}</script>',
        ),
        ("<iframe src=/x></iframe><object data=/x></object><img src=/x><svg onload=x><path/></svg>a", "a"),
        ("<b>a<br/>b</b>", "<b>a<br>b</b>"),
        ('<b title="&quot;x&quot;">a</b>', '<b title="&quot;x&quot;">a</b>'),
        ("<div class=code><pre>curl -H 'x-service-api-key: gak_1…'</pre></div>", ""),
        ("<h2>a</h2><button>?</button><span popover id=t><b>a</b>: what it means</span>b", "<h2>a</h2>b"),
        ("<!-- conv_1 --><p>a</p>", "<p>a</p>"),
        ("<details open><summary>a</summary>b</details>", '<details open=""><summary>a</summary>b</details>'),
        ('<span>a <a href="" hidden>Sign in again</a></span><p hidden>b</p>', "<span>a </span>"),
        ("<nav><a href=/x>b</a></nav><ul class='menu'><li>c</li></ul>", ""),
    ],
)
def test_only_allowed_elements_and_attributes_are_kept(html, kept):
    assert reduce(html) == kept


def test_nothing_outside_of_main_is_kept():
    assert reduce("") == ""
    assert reduce_main("<p>no main</p>") == ""


CONTROLS = {
    "a", "button", "datalist", "dialog", "fieldset", "form", "img", "input", "label", "legend", "nav", "noscript",
    "option", "script", "select", "svg", "textarea",
}  # fmt: skip
OUTSIDE = {
    "body",
    "circle",
    "head",
    "html",
    "link",
    "main",
    "meta",
    "path",
    "title",
}  # these are outside of the content, or within an svg


def test_every_element_of_the_templates_is_kept_or_known_as_a_control():
    """An element that is not in these lists would vanish from shared pages, together with its text."""
    templates = Path(settings.BASE_DIR, "templates").rglob("*.html")
    elements = {tag for template in templates for tag in re.findall(r"<([a-z][a-z0-9]*)", template.read_text())}
    assert elements - KEPT_TAGS - CONTROLS - OUTSIDE == set()
