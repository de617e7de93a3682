"""How the addresses of pages and their queries are written."""

from urllib.parse import parse_qs

from django.template import Context, Template
from django.test import RequestFactory

from workspaces.models import Environment, Workspace


def render_template(template: str, query: str = "", **context) -> str:
    request = RequestFactory().get(f"/?{query}")
    return Template("{% autoescape off %}" + template + "{% endautoescape %}").render(
        Context({"request": request, **context})
    )


def test_the_query_tag_changes_some_members_and_keeps_the_others():
    url = render_template("{% query sort='path' page=None status='' %}", "range=7d&page=3&status=200&sort=count")
    assert parse_qs(url[1:]) == {"range": ["7d"], "sort": ["path"]}


def test_the_query_tag_keeps_repeated_members():
    assert parse_qs(render_template("{% query sort='path' %}", "key=a&key=b")[1:])["key"] == ["a", "b"]


def test_a_value_in_the_query_is_escaped_in_the_page():
    request = RequestFactory().get("/", {"q": '"><script>'})
    context = Context({"request": request})
    page = Template('<a href="{% query sort="x" %}">{% query_inputs "sort" %}').render(context)
    assert "<script>" not in page


def test_hidden_inputs_repeat_the_query_without_the_fields_of_the_form():
    inputs = render_template("{% query_inputs 'q' 'page' %}", "q=old&page=2&key=a&key=b&tz=UTC")
    assert [name in inputs for name in ('"q"', '"page"', '"key" value="a"', '"key" value="b"', '"tz"')] == [
        False, False, True, True, True,
    ]  # fmt: skip


def environment() -> Environment:
    return Environment(workspace=Workspace(name="Lumen", slug="lumen"), name="staging")


def test_an_address_of_a_page_keeps_only_the_period():
    query = "from=2026-01-01&to=2026-01-31&tz=Europe/Berlin&page=4&q=x"
    url = render_template("{% page_url 'overview' %}", query, environment=environment())
    path, _, members = url.partition("?")
    assert path == "/w/lumen/staging/overview"
    assert parse_qs(members) == {"from": ["2026-01-01"], "to": ["2026-01-31"], "tz": ["Europe/Berlin"]}


def test_an_address_of_a_page_can_have_other_members():
    tag = "{% page_url 'overview.csv' table='keys' range='30d' %}"
    url = render_template(tag, "range=7d", environment=environment())
    assert parse_qs(url.partition("?")[2]) == {"table": ["keys"], "range": ["30d"]}
    assert render_template("{% page_url 'overview' %}", environment=environment()) == "/w/lumen/staging/overview"
