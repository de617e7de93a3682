"""The page of broken joins and its tables, for the tests."""

from django.utils import timezone

from tests.read_tables import read_tables
from wire.time.period import parse_period

PAGE = "/w/lumen-books/production/joins"


def environment_of(created, name):
    return created.workspace.environments.get(name=name)


def tables(client, query=""):
    return read_tables(client.get(f"{PAGE}.json?{query}"))


def all_time():
    return parse_period({"range": "all"}, now=timezone.now())
