"""A database is refused whose server is too old."""

from __future__ import annotations

import pytest
from django.db import connection

from hub.local.database import server_requirements
from hub.local.startup_errors import StartupError


@pytest.mark.django_db
def test_a_server_of_the_oldest_supported_version_is_accepted_and_an_older_one_refused(monkeypatch):
    major = connection.pg_version // 10_000
    monkeypatch.setattr(server_requirements, "OLDEST_POSTGRES", major)
    server_requirements.check_server_version()
    monkeypatch.setattr(server_requirements, "OLDEST_POSTGRES", major + 1)
    with pytest.raises(StartupError, match="DATABASE_URL: the server is older than PostgreSQL"):
        server_requirements.check_server_version()
