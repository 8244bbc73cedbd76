"""`hivekeep inbox`: the mail of one actor as a table.

Invariant: what is shown is a page that comm.inbox answers, and showing it marks nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hivekeep.cli.columns import table

NOTHING: Final = "no messages"
_NEW: Final = "new"
_MINUTE: Final = len("YYYY-MM-DDTHH:MM")


def asked(*, sent: bool, unread: bool, limit: int) -> str:
    """The operation that fetches the page."""
    args: dict[str, Any] = {"limit": limit}
    if sent:
        args["box"] = "sent"
    else:
        args["status"] = "unread" if unread else "all"
    return json.dumps([{"tool": "comm.inbox", "args": args}])


def to_table(page: Mapping[str, Any], *, sent: bool) -> str:
    """One line a message, newest first, and a last one about what is not shown."""
    if not page["messages"]:
        return NOTHING
    other = "TO" if sent else "FROM"
    headings = ("ID", "", other, "TIME (UTC)", "SUBJECT", "TEXT")
    rows = [_row(one, other) for one in page["messages"]]
    lines = [table(headings, rows, elastic=(other, "SUBJECT", "TEXT"))]
    lines += _summary(page)
    return "\n".join(lines)


def _row(message: Mapping[str, Any], other: str) -> tuple[str, ...]:
    new = other == "FROM" and not message["read"]
    return (
        message["short_id"],
        _NEW if new else "",
        str(message[other.lower()] or "-"),
        message["created_at"][:_MINUTE].replace("T", " "),
        str(message["subject"] or "-"),
        message["preview"],
    )


def _summary(page: Mapping[str, Any]) -> list[str]:
    told = []
    if page["unread_count"]:
        more = " or more" if page["unread_count_saturated"] else ""
        told.append(f"{page['unread_count']}{more} unread")
    if page["has_more"]:
        told.append("--limit shows more")
    return ["", "; ".join(told)] if told else []
