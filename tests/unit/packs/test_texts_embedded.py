"""Verbs of gtd, comm, schedule and session that store a text put it into the embedding queue and tell of a cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.dispatch.run import drive
from hivekeep.storage import embedding_queue
from hivekeep.times import now_us
from hivekeep_contract.limits import EMBEDDING_HASHED_BYTES_MAX
from support.client import Hive, check_entry, open_hive

LONG = "x" * (EMBEDDING_HASHED_BYTES_MAX + 7)
LATER = "2999-07-05T09:00:00Z"


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A server in memory with the embedder `hashed`."""
    with open_hive(embedding_models=("hashed",)) as opened:
        yield opened


def waiting(hive: Hive) -> list[str]:
    """The inputs that wait for a vector; afterwards none does."""
    with hive.server.engine.read() as tx:
        rows = embedding_queue.take(tx, now_us(), 1000)
    hive.server.engine.run_write(lambda tx: embedding_queue.done(tx, rows))
    return [row.input for row in rows]


def called(hive: Hive, verb: str, args: dict[str, Any]) -> Any:
    """The result of a verb, internal or not, which must have succeeded."""
    entry = drive(hive.server.call_verb(verb, args, hive.caller, source="test", internal=True)).entry
    check_entry(entry, verbose=True)
    assert entry["ok"], entry
    return entry["result"]


@pytest.mark.parametrize(
    ("verb", "text", "more", "title", "copies"),
    [
        ("gtd.assign", "description", {"title": "Do it"}, "Do it\n\n", 1),
        ("comm.send", "content", {"to": "local"}, "", 2),
        ("comm.reply", "content", {}, "", 2),
        ("comm.ingest", "content", {"from": "a@example.org", "to": "local"}, "", 1),
        ("schedule.remind", "content", {"at": LATER}, "", 1),
        ("session.store", "content", {}, "", 1),
    ],
)
def test_a_stored_text_is_embedded(
    hive: Hive, verb: str, text: str, more: dict[str, Any], title: str, copies: int
) -> None:
    """Both copies of a message; the same cut is told once, and nothing of a short text."""
    if verb == "comm.reply":
        more = {"id": hive.call("comm.send", to="local", content="Hi")["id"]}
        waiting(hive)
    for content, codes in (("short", []), (LONG, ["embedding_truncated"])):
        told = called(hive, verb, {**more, text: content})
        assert [warning["code"] for warning in told.get("warnings", [])] == codes
        assert waiting(hive) == [(title + content)[:EMBEDDING_HASHED_BYTES_MAX]] * copies


def test_a_scheduled_call_is_embedded(hive: Hive) -> None:
    """The text of its action."""
    action = f'create(kind="observation", content="{LONG}")'
    told = hive.call("schedule.schedule", action=action, at=LATER)
    assert [warning["code"] for warning in told["warnings"]] == ["embedding_truncated"]
    assert waiting(hive) == [action[:EMBEDDING_HASHED_BYTES_MAX]]
