"""`make faults` is the long form of the fault tests.

It prints tables, writes JSON, and ends with 1 if a count or an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.faults.run import Plan, Result, play, summarize_recoveries

EXAMPLES = 5  # how many names of items the table shows; the JSON has all of them


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60, help="no fault begins later")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--json", type=Path, help="a file to write the results to as JSON")
    options = parser.parse_args()
    plan = Plan(options.kills, options.minutes, options.seed)
    print(f"seed {plan.seed}; Ctrl-C ends it early, with the comparison", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="affidavit-faults-"))
    try:
        result = play(plan, folder, lambda line: print(line, flush=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(format_table(result))
    document = json.dumps(build_document(result), indent=2)
    if options.json:
        options.json.write_text(document)
    else:
        print(document)
    return 0 if result.is_exact and not result.surprises else 1


def format_table(result: Result) -> str:
    recoveries = [
        ["fault", "times", "stores again: median", "worst", "folds again: median", "worst"],
        *([str(value) for value in row.values()] for row in summarize_recoveries(result)),
    ]
    ledger = [
        ["item", "acknowledged", "unanswered", "refused", "lost", "doubled", "stored though refused"],
        *(
            [kind, str(row.acknowledged), str(row.unanswered), str(result.refused[kind]), *count_faults(row)]
            for kind, row in result.rows.items()
        ),
    ]
    lines = [*align(recoveries), "", *align(ledger), ""]
    for kind, row in result.rows.items():
        for names in (row.lost, row.doubled, row.stored_though_refused):
            lines += [f"{kind}: {name}" for name in names[:EXAMPLES]]
    lines.append(f"{result.kills} kills in {result.seconds / 60:.0f} minutes, seed {result.plan.seed}")
    lines.append(f"answers: {dict(result.statuses.most_common())}")
    lines += [f"skipped: {name}: {reason}" for name, reason in result.skipped.items()]
    lines += [f"not as documented: {name}, {count} times" for name, count in result.surprises.items()]
    return "\n".join(lines)


def count_faults(row: Any) -> list[str]:
    return [str(len(names)) for names in (row.lost, row.doubled, row.stored_though_refused)]


def align(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def build_document(result: Result) -> dict[str, Any]:
    ledger = {
        kind: {
            "acknowledged": row.acknowledged, "unanswered": row.unanswered, "refused": result.refused[kind],
            "lost": row.lost, "doubled": row.doubled, "storedThoughRefused": row.stored_though_refused,
        }
        for kind, row in result.rows.items()
    }  # fmt: skip
    return {
        "kills": result.kills, "seconds": round(result.seconds), "seed": result.plan.seed, "ledger": ledger,
        "recoveries": summarize_recoveries(result), "answers": dict(result.statuses),
        "notAsDocumented": dict(result.surprises), "skipped": result.skipped,
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
