"""The doctor names variables whose names are almost those of settings."""

from __future__ import annotations

import re
from pathlib import Path

from hub.doctor.misspelt_variables import HUB_VARIABLES, check_variables


def test_a_misspelt_variable_is_named_with_the_right_one(monkeypatch):
    for name in (*HUB_VARIABLES, "HUB_PORT_80_TCP", "HUB_SERVICE_HOST"):
        monkeypatch.setenv(name, "1")
    assert check_variables().state == "ok"
    monkeypatch.setenv("HUB_PROT", "8080")
    assert check_variables().state == "wrong"
    assert "HUB_PROT is no setting" in check_variables().detail
    assert check_variables().cure == "Did you mean HUB_PORT?"


def test_the_variables_are_those_of_the_docs():
    documented = re.findall(r"^\| `(HUB_[A-Z_]+)`", Path("docs/settings.md").read_text(), flags=re.MULTILINE)
    assert set(HUB_VARIABLES) == set(documented)
