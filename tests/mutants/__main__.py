"""`make mutate`: change one place at a time in the SDK's verifier, canonical JSON and merge of evidence.

mutmut makes the changes and runs the tests; sdk/pyproject.toml names the modules. The command counts the changes that
tests notice, and ends with 1 if they are fewer than 90 % of the changes to a module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

SDK = Path(__file__).resolve().parents[2] / "sdk"
MUTANTS = SDK / "mutants"
FLOOR = 0.9
SURVIVED, WITHOUT_TEST = 0, 33  # exit codes in mutmut's results; mutants that were not run have no code
AT_IMPORT = ("affidavit._canonical.x__build_writer__",)
"""Functions that run while their module is imported, before mutmut chooses the change. So each of their mutants that
survived is tested again, in a process of its own."""


def main(patterns: list[str]) -> int:
    command = [str(Path(sys.executable).with_name("mutmut")), "run", "--max-children", "2", *patterns]
    subprocess.run(command, cwd=SDK, check=True)
    results = read_results()
    survivors = [name for name, code in results.items() if code in (SURVIVED, WITHOUT_TEST)]
    for name in survivors:
        if name.startswith(AT_IMPORT) and is_noticed_in_a_process_of_its_own(name):
            results[name] = 1
    print_table(results)
    return 0 if all(share >= FLOOR for _, _, share in count_by_module(results)) else 1


def read_results() -> dict[str, int]:
    """Return the exit code of the tests for each mutant that was run, by the name of the mutant."""
    results: dict[str, int] = {}
    for path in sorted(MUTANTS.rglob("*.meta")):
        codes = json.loads(path.read_text())["exit_code_by_key"]
        results |= {name: code for name, code in codes.items() if code is not None}
    return results


def is_noticed_in_a_process_of_its_own(name: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "tests/test_canonical.py"]
    environment = {**os.environ, "MUTANT_UNDER_TEST": name}
    return subprocess.run(command, cwd=MUTANTS, env=environment, capture_output=True, check=False).returncode != 0


def count_by_module(results: dict[str, int]) -> list[tuple[str, int, float]]:
    """Return the number of mutants of each module, and the share that the tests noticed."""
    counts: dict[str, Counter[bool]] = defaultdict(Counter)
    for name, code in results.items():
        module = name.rpartition(".")[0]
        counts[module][code not in (SURVIVED, WITHOUT_TEST)] += 1
    return [(module, count.total(), count[True] / count.total()) for module, count in counts.items()]


def print_table(results: dict[str, int]) -> None:
    for name, code in results.items():
        if code in (SURVIVED, WITHOUT_TEST):
            print(f"survived: {name}   (`mutmut show {name}` in sdk/)")
    print("| module | changes | noticed |\n|---|---|---|")
    for module, number, share in count_by_module(results):
        print(f"| `{module}` | {number} | {share:.1%} |")
    print(f"| all | {len(results)} | {sum(code not in (SURVIVED, WITHOUT_TEST) for code in results.values())} |")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
