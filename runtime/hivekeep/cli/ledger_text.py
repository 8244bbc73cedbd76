"""Answers of `hivekeep ledger` for a person at a terminal.

Invariant: nothing that a client wrote is shown but the name of a workspace, without characters that a terminal would
act on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hivekeep.cli.columns import plain

NOTHING: Final = "no such runs"
_MINUTE: Final = len("YYYY-MM-DDTHH:MM")

Data = Mapping[str, Any]


def inspected(told: Data) -> str:
    """What was examined and what was found."""
    if told["purge"] is not None:
        return _tombstone(told["purge"])
    if told["run"] is not None:
        head = _run(told["run"])
    else:
        totals = told["totals"]
        head = f"{totals['runs']} runs with {totals['events']} events; {totals['purged']} runs were purged"
    found = [_finding(finding) for finding in told["findings"]]
    return "\n".join([head, *(found or ["nothing is wrong"]), *(["and more"] if told["more"] else [])])


def purged(told: Data) -> str:
    """What was removed, or would be."""
    if told["purgedBefore"] is not None:
        return _tombstone(told["purgedBefore"])
    lines = [line for run in told["runs"] for line in _removed(run)] or [NOTHING]
    if told["more"]:
        lines.append("there are more; repeat the command")
    if told["dryRun"] and told["runs"]:
        return "\n".join(["would be removed, with --confirm:", *lines])
    return "\n".join([*(["removed:"] if told["runs"] else []), *lines])


def _removed(run: Data) -> list[str]:
    return [_run(run), *(f"  the entry {entry} stays" for entry in run["entriesKept"])]


def _run(run: Data) -> str:
    holds = ", ".join(f"{count} {name}" for name, count in run["holds"].items() if count) or "nothing"
    moment = _moment(run["updatedAt"])
    return f"{run['runId']} {run['status']} in {plain(run['workspace'])} since {moment} (UTC): {holds}"


def _tombstone(purge: Data) -> str:
    when = _moment(purge["purgedAt"])
    bytes_left = "" if purge["erasedAt"] else "; the file may hold bytes of it, purge it once more"
    said = f"{purge['runId']} was purged {when} (UTC) by {plain(purge['actor'])}; it had {purge['events']} events"
    return said + bytes_left


def _finding(finding: Data) -> str:
    at = "" if finding["sequence"] is None else f" at sequence {finding['sequence']}"
    return f"{'broken' if finding['broken'] else 'warning'}: run {finding['runId']}{at}: {finding['trouble']}"


def _moment(text: str) -> str:
    return text[:_MINUTE].replace("T", " ")
