"""`make audit`: look up known vulnerabilities of the packages that a hub runs with, and report failed look-ups."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LOCKS = [Path("requirements") / name for name in ("run.txt", "redis.txt", "otel.txt")]
CURE = "Run `make audit` where the database of vulnerabilities can be reached."


class Verdict(NamedTuple):
    """The result of an audit.

    status: 1 for known vulnerabilities; else 2 if packages could not be looked up; else 0.
    """

    status: int
    text: str


def audit(locks: Sequence[Path]) -> Verdict:
    if missing := [str(path) for path in locks if not path.is_file()]:
        return Verdict(2, f"Nothing was audited: there is no {', '.join(missing)}. Run `make lock`.")
    files = [word for path in locks for word in ("--requirement", str(path))]
    command = [sys.executable, "-m", "pip_audit", *files, "--disable-pip", "--progress-spinner", "off"]
    process = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    try:
        packages = json.loads(process.stdout)["dependencies"]
    except (ValueError, KeyError):
        reasons = [line for line in process.stderr.splitlines() if line.strip() and not line[0].isspace()]
        reason = (reasons or ["no output"])[-1]
        return Verdict(2, f"Nothing was audited: pip-audit lists no packages ({reason}). If it cannot connect: {CURE}")
    return judge(packages)


def judge(packages: Sequence[Mapping[str, Any]]) -> Verdict:
    """Return the verdict on the packages that pip-audit lists. A package may be listed several times."""
    vulnerabilities = {
        f"{package['name']} {package['version']}: {item['id']}, mended in {', '.join(item['fix_versions']) or 'none'}"
        for package in packages
        for item in package.get("vulns", ())
    }
    names = {package["name"] for package in packages}
    skipped = sorted({package["name"] for package in packages if "skip_reason" in package})
    lines = sorted(vulnerabilities)
    if skipped:
        lines.append(f"{len(skipped)} of {len(names)} packages could not be looked up: {', '.join(skipped)}. {CURE}")
    status = 1 if vulnerabilities else 2 if skipped else 0
    return Verdict(status, "\n".join(lines) or f"{len(names)} packages: no vulnerability is known.")


if __name__ == "__main__":
    verdict = audit(LOCKS)
    print(verdict.text)
    sys.exit(verdict.status)
