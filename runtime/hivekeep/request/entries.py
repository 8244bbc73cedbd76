"""The counts of a response, always computed from its entries, never kept beside them."""

from collections.abc import Sequence
from typing import Any

Entry = dict[str, Any]


def summarise(entries: Sequence[Entry]) -> tuple[dict[str, int], str]:
    """The `summary` (total, succeeded, failed, aborted) and the `status` ("success" or "partial") of
    entries."""
    total = len(entries)
    succeeded = aborted = 0
    for entry in entries:
        if entry["ok"]:
            succeeded += 1
        elif entry.get("aborted"):
            aborted += 1
    summary = {
        "total": total,
        "succeeded": succeeded,
        "failed": total - succeeded - aborted,
        "aborted": aborted,
    }
    return summary, "success" if succeeded == total else "partial"


def envelope(entries: Sequence[Entry]) -> dict[str, Any]:
    """The response envelope: `results` in the order of the operations, `summary`, `status`."""
    summary, status = summarise(entries)
    return {"results": list(entries), "summary": summary, "status": status}
