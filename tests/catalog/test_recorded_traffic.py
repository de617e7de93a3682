"""Recorded traffic of a real API goes through the SDK into the catalog: each operation with its true counts."""

from __future__ import annotations

import gzip
import json
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from affidavit import Observations, send_observations, template
from affidavit.operations import strip_names
from catalog.ingest.fold import fold_reports
from catalog.models import OperationPart
from catalog.operation_queries import visible_operations
from tests.catalog.reports import environment_of

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(300)]
NEVER_BEGINS = {404, 405, 501}


class IntoTheHub:
    """A transport of the SDK that sends with the test client."""

    def __init__(self, api: Any) -> None:
        self.api = api

    def post_json(self, path: str, body: bytes, headers: Mapping[str, str]) -> Any:
        response = self.api.post(path, body, headers=headers)
        assert response.status_code == 202, response.content[:2000]
        return response.json()


def exchanges(file: Any) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield method, template, status and entry of each recorded call."""
    with gzip.open(file) as text:
        for entry in json.load(text)["log"]["entries"]:
            path = template(urlsplit(entry["request"]["url"]).path).path
            yield entry["request"]["method"], path, entry["response"]["status"], entry


def observe_file(file: Any) -> Observations:
    observations = Observations()
    for method, _, status, entry in exchanges(file):
        url = urlsplit(entry["request"]["url"])
        sent = entry["request"].get("postData", {}).get("text")
        response_text = entry["response"]["content"].get("text")
        bodies = {"request": sent, "response": response_text}
        observations.add(
            method,
            template(url.path),
            status,
            at=datetime.fromisoformat(entry["startedDateTime"]).timestamp(),
            query=parse_qs(url.query, keep_blank_values=True) or None,
            **{name: json.loads(body) for name, body in bodies.items() if body},
        )
    return observations


def deliver(api: Any, created: Any, observations: Observations) -> None:
    send_observations(
        observations.entries(),
        api_key=api.key,
        transport=IntoTheHub(api),
        report_id=lambda content: str(uuid.uuid5(uuid.NAMESPACE_URL, content.hex())),
    )
    fold_reports(environment_of(created), now=timezone.now())


def whole_catalog(api: Any) -> bytes:
    return api.get("/api/catalog").getvalue()


def test_the_catalog_has_every_recorded_operation_that_exists_with_the_counts_of_a_recount(api, workspace, shared):
    file = shared / "traffic" / "linode.har.gz"
    if not file.exists():
        pytest.skip("the recorded traffic is not here")
    observations = observe_file(file)
    deliver(api, workspace, observations)

    recount: dict[tuple[str, str], Counter[str]] = {}
    bodies: Counter[str] = Counter()
    for method, path, status, entry in exchanges(file):
        recount.setdefault((method, strip_names(path)), Counter())[str(status)] += 1
        bodies[str(status)] += bool(entry["response"]["content"].get("text"))
    begun = {key: dict(counts) for key, counts in recount.items() if any(int(s) not in NEVER_BEGINS for s in counts)}
    rows = {(row.method, row.key): row for row in visible_operations(environment_of(workspace))}
    assert {key: row.statuses for key, row in rows.items()} == begun

    catalog = json.loads(whole_catalog(api))
    assert sum(row["observations"] for row in catalog["operations"]) == sum(
        sum(counts.values()) for counts in begun.values()
    )
    seen = Counter()
    for part in OperationPart.objects.filter(part="response", operation__begun=True):
        seen[str(part.status)] += sum(part.evidence["counts"].values())
    assert {status: n for status, n in seen.items() if status[0] == "2"} == {
        status: n for status, n in bodies.items() if status[0] == "2" and n
    }

    before = whole_catalog(api)
    deliver(api, workspace, observations)
    assert whole_catalog(api) == before
