"""Bodies that fit or break the published schema never cause a 500, and every error is a problem document."""

from __future__ import annotations

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.test import override_settings
from hypothesis import HealthCheck, settings

EXAMPLES = 25
with override_settings(ADDRESS_RATE_LIMIT=0):  # there is no database yet in which requests could be counted
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", WSGIHandler(), headers={"Host": "localhost"})


@pytest.mark.django_db
@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_breaks_an_endpoint(case, workspace):
    response = case.call(headers={"x-service-api-key": workspace.full_key, "Host": "localhost"})
    assert response.status_code < 500 or response.status_code == 503, case.as_curl_command()
    if response.status_code >= 400:
        assert response.headers["content-type"][0].startswith("application/problem+json")
        assert response.json()["code"]
