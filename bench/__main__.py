"""Run every benchmark (`make bench`), or one (`make bench only=NAME`)."""

import pkgutil
import runpy
import sys

import bench


def main(only: list[str]) -> int:
    names = [module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")]
    unknown = [name for name in only if name not in names]
    if unknown:
        print(f"There is no {unknown[0]}; choose one of: {', '.join(names)}", file=sys.stderr)
        return 2
    for name in only or names:
        print(f"== {name}")
        runpy.run_module(f"bench.{name}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
