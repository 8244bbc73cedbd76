"""The verbs see nothing of the curated memory but what a person copied."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep.agent.curated import copying
from hivekeep.agent.curated.desk import Desk
from hivekeep_contract.gateway_errors import Conflict
from support.client import Hive, open_hive

WORD = "zyxomma"
"""A word that only the curated entry has."""


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A server with every pack on an empty store."""
    with open_hive() as opened:
        yield opened


@pytest.fixture
def entry(hive: Hive, tmp_path: Path) -> dict[str, Any]:
    """A verified entry in the store of the server."""
    desk = Desk(hive.server.engine, "ada", tmp_path)
    said = {"kind": "fact", "title": f"About {WORD}", "body": f"The {WORD} is hidden.", "tags": [WORD]}
    entry_id = desk.record("local", said)["entry"]["entryId"]
    desk.verify(entry_id, 1)
    return desk.entry(entry_id)


READS = [
    f'search(kind="entity", query="{WORD}")',
    f'search(kind="note", query="{WORD}")',
    f'search(kind="note", query="{WORD[:4]}")',
    f'memory.recall(query="{WORD}")',
    f'context(query="{WORD}")',
    'list(kind="note")',
    'list(kind="entity")',
    'list(kind="memory")',
    "stats()",
]


@pytest.mark.parametrize("ops", READS)
def test_no_verb_shows_an_entry(hive: Hive, entry: dict[str, Any], ops: str) -> None:
    """Neither its text nor its id, whatever is asked."""
    answer = hive.entry(ops)
    assert answer["ok"], answer
    found = json.dumps(answer["result"])
    assert entry["entryId"] not in found
    assert "is hidden" not in found


@pytest.mark.parametrize("cut", [slice(8), slice(None)])
def test_no_verb_finds_an_entry_by_its_id(hive: Hive, entry: dict[str, Any], cut: slice) -> None:
    """Nor by the first digits of it: the answer is that to an id that nothing has, and nothing is changed."""
    unknown = "00000000-0000-4000-8000-00000000ffff"[cut]
    for ops in (
        'get(id="{}")',
        'update(id="{}", content="x")',
        'delete(id="{}")',
        'link(source_id="{0}", target_id="{0}", relation="extends")',
    ):
        answers = [hive.entry(ops.format(reference)) for reference in (entry["entryId"][cut], unknown)]
        assert not any(answer["ok"] for answer in answers)
        told, expected = [json.dumps(answer["error"]) for answer in answers]
        assert told.replace(entry["entryId"][cut], unknown) == expected
    assert Desk(hive.server.engine, "ada", Path("/")).entry(entry["entryId"]) == entry


def test_counts_of_verbs_know_nothing_of_entries(hive: Hive, tmp_path: Path) -> None:
    """stats answers the same before and after."""
    before = hive.call("stats")
    Desk(hive.server.engine, "ada", tmp_path).record("local", {"kind": "fact", "title": WORD, "body": ""})
    assert hive.call("stats") == before


def copy(hive: Hive, entry: dict[str, Any]) -> dict[str, Any]:
    """Copy an entry as the command does."""
    return copying.outcome(entry, hive.run(copying.operation(entry)))


def test_a_copied_entry_is_one_memory(hive: Hive, entry: dict[str, Any]) -> None:
    """A fact with the text and tags of the entry, and with tags that say where it comes from; twice is once."""
    first = copy(hive, entry)
    assert first == {
        "entryId": entry["entryId"],
        "revision": 1,
        "memoryId": first["memoryId"],
        "replayed": False,
    }
    assert copy(hive, entry) == {**first, "replayed": True}
    memory = hive.call("get", id=first["memoryId"])
    assert (memory["kind"], memory["content"]) == ("memory", f"About {WORD}\n\nThe {WORD} is hidden.")
    assert memory["properties"]["tags"] == [
        WORD,
        "curated",
        f"curated:{entry['entryId']}",
        "curated-revision:1",
    ]
    assert [item["id"] for item in hive.call("list", kind="memory")["items"]] == [first["memoryId"]]


def test_each_revision_is_copied_on_its_own(hive: Hive, tmp_path: Path) -> None:
    """A memory that was made of an older revision is left as it is."""
    desk = Desk(hive.server.engine, "ada", tmp_path)
    entry_id = desk.record("local", {"kind": "fact", "title": "Old", "body": "Text."})["entry"]["entryId"]
    first = copy(hive, desk.entry(entry_id))
    desk.revise(entry_id, 1, {"title": "New"})
    second = copy(hive, desk.entry(entry_id))
    assert (second["revision"], second["replayed"]) == (2, False)
    assert second["memoryId"] != first["memoryId"]
    assert hive.call("get", id=first["memoryId"])["content"] == "Old\n\nText."


def test_a_memory_that_holds_the_key_with_other_content_is_a_conflict(hive: Hive, entry: dict[str, Any]) -> None:
    """Nothing is overwritten."""
    hive.call(
        "memory.remember",
        content="Something else.",
        memory_type="semantic",
        idempotency_key=f"curated:{entry['entryId']}:1",
    )
    with pytest.raises(Conflict) as why:
        copy(hive, entry)
    assert why.value.reason == "record_differs"
