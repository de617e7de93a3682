"""Run every benchmark (`make bench`), or one (`make bench only=NAME`), and print one table of all figures at the end.

size=small, size=full or size=100M chooses how much data is measured. json=FILE writes the figures to a file.
markdown=FILE replaces the table in a page of docs/.

Each line of the table has a figure, its reference if there is one (mostly a peer measured in the same run), their
ratio, the goal, and whether the goal is met.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import platform
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bench.hub
import bench.sdk
from bench._support.result_table import PRINTED_ROWS, Row, print_table

FULL = {"BENCH_OUTCOMES": "10000000"}
# The environment variables that the modules read, by size. A variable that is set already keeps its value. `small` ends
# within minutes, but it measures too briefly for reliable figures.
SIZES = {
    "small": {
        "BENCH_OUTCOMES": "200000",
        "BENCH_SMALL": "20000",
        "BENCH_OPERATIONS": "300",
        "BENCH_TALLY_DAYS": "7",
        "BENCH_REPORTS": "300",
        "BENCH_SECONDS": "1",
        "BENCH_SEARCH_SECONDS": "5",
        "BENCH_STARTS": "1",
    },
    "full": FULL,
    "100M": {**FULL, "BENCH_OUTCOMES": "100000000"},
}
LONG = {"cluster", "workspace_timing", "memory"}  # modules that `small` leaves out
NamedRow = tuple[str, Row]


def main(arguments: Sequence[str]) -> int:
    modules = find_modules()
    options = parse_options(arguments, list(modules))
    for variable, value in SIZES.get(options.size, {}).items():
        os.environ.setdefault(variable, value)
    left_out = LONG if options.size == "small" else set()
    chosen = options.names or [name for name in modules if name not in left_out]
    failed: list[str] = []
    rows = run_module(chosen[0], modules[chosen[0]]) if len(chosen) == 1 else run_each(chosen, failed)
    if options.json:
        options.json.write_text(json.dumps(describe_run(options.size, rows), indent=1, ensure_ascii=False) + "\n")
    if options.markdown:
        options.markdown.write_text(replace_table(options.markdown.read_text(), rows))
    if failed:
        print(f"These ended with an error, and the table lacks them: {', '.join(failed)}")
    return 1 if failed else 0


def find_modules() -> dict[str, str]:
    """Return the modules of all benchmarks, by name, in alphabetical order."""
    modules = {
        module.name: f"{room.__name__}.{module.name}"
        for room in (bench.hub, bench.sdk)
        for module in pkgutil.iter_modules(room.__path__)
        if not module.ispkg
    }
    return dict(sorted(modules.items()))


def parse_options(arguments: Sequence[str], names: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--size", choices=SIZES, default="")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in names]:
        parser.error(f"there is no {unknown[0]}; choose one of: {', '.join(names)}")
    return options


def run_module(name: str, module: str) -> Sequence[NamedRow]:
    """Run the module of one benchmark, which prints its table; return the rows of that table."""
    print(f"== {name}", flush=True)
    runpy.run_module(module, run_name="__main__")
    return [(name, row) for row in PRINTED_ROWS]


def run_each(names: Sequence[str], failed: list[str]) -> Sequence[NamedRow]:
    """Run several modules, each in a process of its own, since some configure Django; print one table of all rows.

    failed: a list to which this function adds the name of each module that ended with an error.
    """
    rows: list[NamedRow] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            file = Path(folder) / name
            command = [sys.executable, "-m", "bench", name, "--json", str(file)]
            if subprocess.run(command, check=False).returncode != 0:
                failed.append(name)
            elif file.exists():
                rows += [(name, read_row(line)) for line in json.loads(file.read_text())["rows"]]
    print("== all")
    print_table(row._replace(label=f"{name}: {row.label}") for name, row in rows)
    return rows


def read_row(line: Mapping[str, Any]) -> Row:
    return Row(line["figure"], line["measured"], line["against"], line["ratio"], line["goal"], line["unit"])


def replace_table(page: str, rows: Sequence[NamedRow]) -> str:
    """Return a page with the lines of its one table replaced; the text around it stays."""
    lines = page.splitlines()
    in_table = [number for number, line in enumerate(lines) if line.startswith("|")]
    if not in_table:
        raise SystemExit("The page has no table to replace.")
    lines[in_table[0] : in_table[-1] + 1] = format_markdown(rows)
    return "\n".join(lines) + "\n"


def format_markdown(rows: Sequence[NamedRow]) -> Iterator[str]:
    yield "| benchmark | figure | measured | against | ratio or figure | goal | met |"
    yield "|---|---|---|---|---:|---:|---|"
    for name, row in rows:
        goal = "" if row.limit is None else f"≤ {row.limit:.2f}"
        verdict = {None: "", True: "yes", False: "**no**"}[row.is_met]
        cells = (name, row.label, row.measured, row.reference, f"{row.figure:.2f} {row.unit}", goal, verdict)
        yield f"| {' | '.join(cell.strip().replace('|', '¦') for cell in cells)} |"


def describe_run(size: str, rows: Sequence[NamedRow]) -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "size": size,
        "machine": {"system": platform.platform(), "processors": os.cpu_count(), "load": os.getloadavg()[2]},
        "python": platform.python_version(),
        "rows": [
            {
                "module": name,
                "figure": row.label,
                "measured": row.measured,
                "against": row.reference,
                "ratio": row.figure,
                "unit": row.unit,
                "goal": row.limit,
                "met": row.is_met,
            }
            for name, row in rows
        ],
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
