"""`python -m benchmarks [suite ...] [--pairs N] [--json]`: run the suites, print figures with their targets."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence

from benchmarks.measure import Result

SUITES = {
    "create": "benchmarks.create",
    "embedding": "benchmarks.embedding",
    "bulk": "benchmarks.bulk",
    "get": "benchmarks.get",
    "graph": "benchmarks.graph",
    "query": "benchmarks.query",
    "vectors": "benchmarks.vectors",
    "hybrid": "benchmarks.hybrid",
    "recall": "benchmarks.recall",
    "gtd": "benchmarks.gtd",
    "comm": "benchmarks.comm",
    "ledger": "benchmarks.ledger",
    "start": "benchmarks.start",
    "http": "benchmarks.over_http",
}


def main() -> int:
    """Run the chosen suites; status 1 when a target is missed."""
    options = _options()
    results: list[Result] = []
    for suite in options.suites or SUITES:
        print(f"running {suite} ...", file=sys.stderr, flush=True)
        module = importlib.import_module(SUITES[suite])
        results += module.run(options.pairs)
    print(_as_json(results) if options.json else _as_table(results))
    return 0 if all(result.met for result in results) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of {', '.join(SUITES)}; default all")
    parser.add_argument("--pairs", type=int, default=7, help="interleaved pairs of runs (default 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON array instead of the table")
    options = parser.parse_args()
    unknown = sorted(set(options.suites) - set(SUITES))
    if unknown:
        parser.error(f"unknown suite {', '.join(unknown)}; there are {', '.join(SUITES)}")
    return options


def _as_json(results: Sequence[Result]) -> str:
    return json.dumps([{**result._asdict(), "met": result.met} for result in results], indent=2)


def _as_table(results: Sequence[Result]) -> str:
    rows = [("suite", "case", "floor", "ours", "result", "target", ""), *map(_row, results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _row(result: Result) -> tuple[str, ...]:
    floor = "" if result.floor is None else f"{result.floor:,.0f} {result.unit}"
    target = "" if result.target is None else f"{result.better} {_target(result.shown, result.unit, result.target)}"
    verdict = "" if result.target is None else "ok" if result.met else "MISSED"
    return (result.suite, result.case, floor, f"{result.ours:,.0f} {result.unit}", result.shown, target, verdict)


def _target(shown: str, unit: str, target: float) -> str:
    if shown.endswith("%"):
        return f"{target:.0%}"
    return f"{target:g}{'x' if shown.endswith('x') else ' ' + unit}"


if __name__ == "__main__":
    sys.exit(main())
