"""What `doctor` says of curated entries that somebody changed behind the program's back."""

from __future__ import annotations

import pytest

from hivekeep.agent.curated import content, integrity, lifecycle
from hivekeep.agent.curated.lifecycle import Author, NewEntry
from hivekeep.storage.engine import Tx

ADA = Author("ada", 1_000)
SCOPE = {"schemaVersion": 2, "visibility": "project", "signals": {"paths": ["src/a.py"]}}
FIRST = "UPDATE agent_entry_revisions SET {} WHERE entry_seq = 1 AND revision = 1"


@pytest.fixture
def entry_id(tx: Tx) -> str:
    """The first of two entries: it has two revisions, a tag, a signal, and was replaced by the other one."""
    first, second = (
        content.read({"kind": "fact", "title": title, "body": "", "tags": ["CI"], "scope": SCOPE}) for title in "ab"
    )
    entry = lifecycle.record(tx, NewEntry("demo", first), ADA).entry
    lifecycle.revise(tx, entry.id, 1, first._replace(body="More."), ADA)
    other = lifecycle.record(tx, NewEntry("demo", second), ADA).entry
    lifecycle.supersede(tx, entry.id, other.id, ADA)
    return entry.id


def test_what_was_recorded_is_whole(tx: Tx, entry_id: str) -> None:
    """Also when what replaced an entry was purged."""
    assert list(integrity.examine(tx)) == []
    replaced_by = lifecycle.get(tx, entry_id).superseded_by
    assert replaced_by is not None
    lifecycle.purge(tx, replaced_by, ADA)
    assert list(integrity.examine(tx)) == []


@pytest.mark.parametrize(
    ("change", "trouble"),
    [
        *(
            (FIRST.format(column), "revision 1 is not what was hashed")
            for column in (
                "kind = 'lesson'",
                "title = 'x'",
                "body = 'x'",
                "summary = 'x'",
                "scope = '{}'",
                'provenance = \'{"type":"a","reference":"b"}\'',
                "tags = '[]'",
                "content_hash = 'x'",
            )
        ),
        (
            "DELETE FROM agent_entry_revisions WHERE revision = 1 AND entry_seq = 1",
            "it does not have the revisions 1 to 2",
        ),
        (FIRST.format("revision = 3"), "it does not have the revisions 1 to 2"),
        ("UPDATE agent_entries SET revision = 1 WHERE seq = 1", "it does not have the revisions 1 to 1"),
        ("UPDATE agent_entries SET content_hash = 'x' WHERE seq = 1", "its hash is not that of its revision"),
        ("DELETE FROM agent_entry_tags WHERE entry_seq = 1", "its tags are not those that it is found by"),
        ("UPDATE agent_entry_tags SET revision = 1 WHERE entry_seq = 1", "its tags are not those that it is found by"),
        ("DELETE FROM agent_entry_signals WHERE entry_seq = 1", "its signals are not those that it is found by"),
        ("UPDATE agent_entries SET superseded_by = 'x' WHERE seq = 1", "what replaces it is not there"),
        ("UPDATE agent_entries SET workspace = 'x' WHERE seq = 1", "its tags are not those that it is found by"),
    ],
)
def test_a_changed_row_is_found(tx: Tx, entry_id: str, change: str, trouble: str) -> None:
    """The entry is named, and what is wrong with it; nothing of what it says."""
    tx.run("DROP TRIGGER agent_entry_revisions_never_change")
    tx.run(change)
    assert list(integrity.examine(tx)) == [(entry_id, trouble, True)]


def test_a_credential_in_an_old_store_is_worth_a_word(tx: Tx) -> None:
    """One that a later scanner knows is no damage; its entry is named so that it can be purged."""
    says = content.read({"kind": "fact", "title": "a", "body": ""})
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    entry = lifecycle.record(tx, NewEntry("demo", says._replace(body=token)), ADA).entry
    (finding,) = integrity.examine(tx)
    assert finding == (entry.id, "it holds what looks like a credential", False)
    assert str(finding) == f"entry {entry.id}: it holds what looks like a credential"
