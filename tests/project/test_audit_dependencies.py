"""`make audit` fails if a package is vulnerable or could not be looked up."""

from __future__ import annotations

import re

import pytest

from tests.audit_dependencies import Verdict, audit, judge

SOUND = {"name": "django", "version": "5.2.1", "vulns": []}
UNSOUND = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1", "2"]}]}
SKIPPED = {"name": "b", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("packages", "status", "words"),
    [
        ([SOUND, SOUND], 0, ["1 packages: no vulnerability is known."]),
        ([SOUND, UNSOUND], 1, ["a 1: PYSEC-1, mended in 1.1, 2"]),
        ([SOUND, SKIPPED], 2, ["1 of 2 packages could not be looked up: b."]),
        ([UNSOUND, SKIPPED], 1, ["PYSEC-1", "could not be looked up: b."]),
    ],
)
def test_known_vulnerabilities_and_failed_look_ups_are_reported_with_an_exit_status(packages, status, words):
    verdict = judge(packages)
    assert verdict.status == status
    assert [word for word in words if word not in verdict.text] == []


def test_a_missing_lock_is_named(tmp_path):
    missing = tmp_path / "missing.txt"
    assert audit([missing]) == Verdict(2, f"Nothing was audited: there is no {missing}. Run `make lock`.")


def test_a_failure_of_pip_audit_has_its_own_words(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("no package\n")
    verdict = audit([lock])
    assert verdict.status == 2
    assert re.match(r"Nothing was audited: pip-audit lists no packages \(ERROR.*lock.txt", verdict.text)
