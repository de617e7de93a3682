"""Every locked package that is installed has a licence under which the hub may use it and pass it on unchanged."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("run.txt", "redis.txt", "otel.txt", "dev.txt")
ALLOWED = {
    "3-Clause BSD License", "Apache Software License", "Apache-2.0", "BSD 3-Clause",
    "BSD License", "BSD-2-Clause", "BSD-3-Clause",
    "ISC License (ISCL)", "LGPL-3.0-only", "MIT", "MIT License", "MIT-0", "MPL-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)", "PSF-2.0", "Python Software Foundation License", "ZPL-2.1",
}  # fmt: skip
# Packages without a known licence in their metadata, and the licence in their LICENSE file
FILE_LICENCES = {"axe-playwright-python": "MIT", "qrcode": "BSD-3-Clause"}
OPERATOR = re.compile(r"\s+(?:AND|OR)\s+|[()]")


def list_locked_packages() -> list[str]:
    """Return the names of the packages that this machine needs."""
    lines = (line for lock in LOCKS for line in (ROOT / "requirements" / lock).read_text().splitlines())
    requirements = [Requirement(line.removesuffix("\\")) for line in lines if re.match(r"[\w.-]+(\[.*\])?==", line)]
    return sorted({item.name for item in requirements if item.marker is None or item.marker.evaluate()})


def read_licences(package: str) -> set[str]:
    if package in FILE_LICENCES:
        return {FILE_LICENCES[package]}
    facts = metadata.metadata(package)
    expressions = [facts[name] for name in ("License-Expression", "License") if name in facts]
    classifiers = [line.split(" :: ") for line in facts.get_all("Classifier", []) if line.startswith("License :: OSI")]
    if classifiers and "License-Expression" not in facts:
        return {parts[-1] for parts in classifiers}
    return {term.strip() for term in OPERATOR.split(expressions[0]) if term.strip()} if expressions else set()


@pytest.mark.parametrize("package", list_locked_packages())
def test_the_licences_of_a_package_are_allowed(package):
    licences = read_licences(package)
    assert licences, f"{package} names no licence: read its LICENSE file"
    assert licences <= ALLOWED
