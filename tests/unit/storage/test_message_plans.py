"""Every question about mail walks an index, however many messages there are."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hivekeep.storage import channels, messages, notes
from hivekeep.storage.engine import Tx
from hivekeep.storage.message_fields import MessageTraits
from hivekeep.storage.messages import BoxFilter, View
from hivekeep.storage.notes import NoteFilter
from support.client import open_hive
from support.stores import Explained

VIEW = View("local", "bob")
QUESTIONS: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "unread page": (
        lambda tx: messages.page(tx, *VIEW, BoxFilter(status="unread"), limit=9, offset=0),
        ["SEARCH notes USING INDEX notes_unread (namespace=? AND <expr>=?)"],
    ),
    "page of a day": (
        lambda tx: messages.page(tx, *VIEW, BoxFilter(status="all", since=1, before=9), limit=9, offset=0),
        ["SEARCH notes USING INDEX notes_inbox (namespace=? AND <expr>=? AND created_at>? AND created_at<?)"],
    ),
    "sent page": (
        lambda tx: messages.page(tx, *VIEW, BoxFilter(sent=True), limit=9, offset=0),
        ["SEARCH notes USING INDEX notes_sent (namespace=? AND <expr>=?)"],
    ),
    "new arrivals": (
        lambda tx: messages.arrived_after(tx, *VIEW, 7, 100),
        [
            "SEARCH a USING INDEX message_arrivals_by_actor (namespace=? AND actor=? AND seq>?)",
            "SEARCH n USING INTEGER PRIMARY KEY (rowid=?)",
        ],
    ),
    "roots": (
        lambda tx: messages.roots_from(tx, "local", "0badcafe", 9),
        ["SEARCH notes USING INDEX notes_conversations (namespace=? AND <expr>>? AND <expr><?)"],
    ),
    "parked": (
        lambda tx: channels.parked(tx, "local"),
        ["SEARCH notes USING INDEX notes_parked (namespace=?)"],
    ),
    "a conversation, generic": (
        lambda tx: notes.list_page(tx, ("local",), NoteFilter("message", (), MessageTraits("x")), limit=9),
        ["SEARCH notes USING INDEX notes_conversations (namespace=? AND <expr>=?)"],
    ),
}


@pytest.fixture(scope="module")
def tx() -> Iterator[Tx]:
    with open_hive() as hive, hive.server.engine.read() as reader:
        yield reader


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_list_walks_its_index(tx: Tx, name: str) -> None:
    """The steps of the plan, all of them."""
    ask, steps = QUESTIONS[name]
    explained = Explained(tx)
    ask(explained)
    assert explained.steps == steps


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_thread_is_no_scan(tx: Tx, order: str) -> None:
    """Nor is the look for the other copy of each message; only the page itself is sorted."""
    explained = Explained(tx)
    messages.thread(explained, VIEW, "x", order=order, limit=9, after=None, root_apart=True)
    assert not [step for step in explained.steps if step.startswith("SCAN")]
    assert "SEARCH twin USING INDEX notes_message_twins (namespace=? AND <expr>=?)" in explained.steps
    compared = "<" if order == "desc" else ">"
    walk = f"SEARCH n USING INDEX notes_conversations (namespace=? AND <expr>=? AND (created_at,id){compared}(?,?))"
    assert walk in explained.steps
