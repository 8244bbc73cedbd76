"""Examining ledgers: each way to tamper with one is found, named by run and sequence, and nothing of it is repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivekeep.agent import appending, integrity
from hivekeep.agent.chain import event_hash
from hivekeep.agent.integrity import Finding
from hivekeep.storage import agent_events, agent_runs
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine
from support.ledgers import NOW, Ids, append, batch, event, open_run, stored
from support.stores import record_id

KEY = "ghp_" + "a1B2c3" * 4
CHANGED = "the event is not the one that was hashed"
UNCHAINED = "the event is not chained to the one before it"
ELSEWHERE = "the run says that its ledger ends elsewhere"


@pytest.fixture
def run(tx: Tx) -> RunRow:
    """A run with four events, beside two others, the first of them without any."""
    open_run(tx, 1)
    made = open_run(tx, 2)
    other = open_run(tx, 3)
    for number in range(4):
        said = event(
            number,
            sourceEventId=f"s-{number}",
            sourceSequence=number,
            sourceType="Step",
            outcome="ok",
            payload={"step": number, "token": "x"},
        )
        append(tx, made, said, ids=Ids(100 + number))
    append(tx, other, event(1), ids=Ids(200))
    return made


def examined(tx: Tx) -> list[tuple[str, int | None, str, bool]]:
    """What is found, with the last digits of the run."""
    return [(found.run_id[-1], *found[1:]) for found in integrity.examine(tx, 5)]


def tamper(tx: Tx, run: RunRow, sequence: int, column: str, value: Any) -> None:
    """Change one column of one event behind the back of everything."""
    tx.run("PRAGMA foreign_keys = off")
    tx.run(f"UPDATE agent_events SET {column} = ? WHERE run_seq = ? AND sequence = ?", (value, run.seq, sequence))
    assert tx.changes() == 1


def test_a_ledger_that_only_grew_is_sound(tx: Tx, run: RunRow) -> None:
    """Nothing is found in runs with and without events, and nothing is changed."""
    before = stored(tx, run)
    assert examined(tx) == []
    assert stored(tx, run) == before


@pytest.mark.parametrize(
    ("column", "value", "trouble"),
    [
        ("event_id", "other", CHANGED),
        ("source_event_id", "other", CHANGED),
        ("source_event_id", None, CHANGED),
        ("source_sequence", 99, CHANGED),
        ("source_sequence", None, CHANGED),
        ("event_type", "step.failed", CHANGED),
        ("source_type", "other", CHANGED),
        ("actor", "agent:2", CHANGED),
        ("outcome", "failed", CHANGED),
        ("outcome", None, CHANGED),
        ("occurred_at", NOW + 1000, CHANGED),
        ("ingested_at", NOW + 1000, CHANGED),
        ("payload", '{"step":9,"token":"[REDACTED]"}', CHANGED),
        ("payload", '{"token":"[REDACTED]","step":1}', CHANGED),
        ("payload", "not json", CHANGED),
        ("redaction", "[]", CHANGED),
        ("previous_hash", "f" * 64, UNCHAINED),
        ("event_hash", "f" * 64, CHANGED),
    ],
)
def test_a_changed_column_is_found(tx: Tx, run: RunRow, column: str, value: Any, trouble: str) -> None:
    """Each column of an event is covered; the finding names the run and the event."""
    tamper(tx, run, 2, column, value)
    assert examined(tx) == [("2", 2, trouble, True)]


def test_every_column_is_tampered_with() -> None:
    """The tests of this module leave no column of the ledger out."""
    changed = {case[0] for case in test_a_changed_column_is_found.pytestmark[0].args[1]}  # type: ignore[attr-defined]
    assert changed | {"run_seq", "sequence"} == set(LedgerRow._fields)


def test_a_removed_event_is_found(tx: Tx, run: RunRow) -> None:
    """From the middle its place is empty; from the end the counters of the run say so."""
    tx.run("DELETE FROM agent_events WHERE run_seq = ? AND sequence = 2", (run.seq,))
    assert examined(tx) == [("2", 2, "the event is missing", True)]
    tx.run("DELETE FROM agent_events WHERE run_seq = ? AND sequence > 1", (run.seq,))
    assert examined(tx) == [("2", 1, ELSEWHERE, True)]
    tx.run("DELETE FROM agent_events WHERE run_seq = ?", (run.seq,))
    assert examined(tx) == [("2", 0, ELSEWHERE, True)]


def test_a_moved_event_is_found(tx: Tx, run: RunRow) -> None:
    """With another number, or in another run."""
    tamper(tx, run, 4, "sequence", 5)
    assert examined(tx) == [("2", 4, "the event is missing", True)]
    tamper(tx, run, 5, "sequence", -3)
    assert examined(tx) == [("2", 1, "the event is missing", True)]
    tamper(tx, run, -3, "sequence", 4)
    tamper(tx, run, 4, "run_seq", 3)
    assert examined(tx) == [("2", 3, ELSEWHERE, True), ("3", 2, "the event is missing", True)]


def test_an_added_event_is_found(tx: Tx, run: RunRow) -> None:
    """Even one with a right hash, because the run knows where its ledger ends."""
    last = stored(tx, run)[-1]
    row = last._replace(sequence=5, event_id="e", source_event_id=None, previous_hash=last.event_hash)
    agent_events.insert_many(tx, [row._replace(event_hash=event_hash(run.id, row))])
    assert examined(tx) == [("2", 5, ELSEWHERE, True)]


def test_a_rewritten_event_breaks_the_next_one(tx: Tx, run: RunRow) -> None:
    """Who changes an event and its hash as well is found at the event behind it."""
    row = stored(tx, run)[1]._replace(outcome="failed")
    tamper(tx, run, 2, "outcome", "failed")
    tamper(tx, run, 2, "event_hash", event_hash(run.id, row))
    assert examined(tx) == [("2", 3, UNCHAINED, True)]


@pytest.mark.parametrize(
    ("column", "value", "sequence", "trouble"),
    [
        ("last_sequence", 3, 4, ELSEWHERE),
        ("last_event_hash", "f" * 64, 4, ELSEWHERE),
        ("last_source_sequence", 2, None, "the run has another last source sequence than its ledger"),
        ("last_source_sequence", None, None, "the run has another last source sequence than its ledger"),
        ("task", '{"title":"other"}', None, "its task is not the one that was hashed"),
        ("task_hash", "f" * 64, None, "its task is not the one that was hashed"),
        ("parent_run_id", record_id(9), None, "its parent run does not exist"),
    ],
)
def test_a_changed_run_is_found(
    tx: Tx, run: RunRow, column: str, value: Any, sequence: int | None, trouble: str
) -> None:
    """Counters, task and parent."""
    tx.run(f"UPDATE agent_runs SET {column} = ? WHERE seq = ?", (value, run.seq))
    assert examined(tx) == [("2", sequence, trouble, True)]


def test_an_intake_that_changed_or_went_is_found(tx: Tx, run: RunRow) -> None:
    """The final profile has a hash, and every run has an intake."""
    tx.run("UPDATE agent_intakes SET profile = '{}' WHERE run_seq = ?", (run.seq,))
    assert examined(tx) == [("2", None, "its profile is not the one that was hashed", True)]
    tx.run("DELETE FROM agent_intakes WHERE run_seq = ?", (run.seq,))
    assert examined(tx) == [("2", None, "it has no intake", True)]


@pytest.mark.parametrize(
    ("statement", "trouble"),
    [
        (
            "INSERT INTO agent_projections (run_seq, through_sequence, state) VALUES (2, 5, '{}')",
            "its folded state goes beyond its ledger",
        ),
        (
            "INSERT INTO agent_deliveries (id, run_seq, through_sequence, session_id, profile_hash, query_hash,"
            " history_hash, policy_version, character_budget, character_count, truncated, created_at)"
            " VALUES ('d', 2, 5, 's', 'p', 'q', 'h', 'v', 1, 1, 0, 1)",
            "a delivery goes beyond its ledger",
        ),
        (
            "INSERT INTO agent_nudges (run_seq, policy_version, code, occurrence_id, checkpoint_id, through_sequence,"
            " priority, evidence_event_ids, reference_ids, created_at)"
            " VALUES (2, 'v', 'c', 'o', 'k', 5, 1, '[]', '[]', 1)",
            "a nudge goes beyond its ledger",
        ),
        (
            "INSERT INTO agent_memory_links (id, run_seq, event_id, entry_id, created_at)"
            " VALUES ('l', 2, 'none', 'e', 1)",
            "a promotion names an event that is not in its ledger",
        ),
        (
            "INSERT INTO agent_memory_links (id, run_seq, event_id, delivery_id, entry_id, created_at)"
            f" VALUES ('l', 2, '{record_id(100)}', 'none', 'e', 1)",
            "a promotion names a delivery that it never had",
        ),
        (
            "INSERT INTO agent_feedback (category, feedback_id, run_seq, actor, key_hash, delivery_id, created_at)"
            " VALUES ('context', 'f', 2, 'a', 'k', 'none', 1)",
            "feedback names a delivery that it never had",
        ),
    ],
)
def test_a_reference_that_leads_nowhere_is_found(tx: Tx, run: RunRow, statement: str, trouble: str) -> None:
    """What lies beside the ledger names events and deliveries of its run, and goes no further than it."""
    tx.run(statement)
    assert examined(tx) == [("2", None, trouble, True)]


def test_a_parent_that_was_purged_is_none_that_is_missing(tx: Tx, run: RunRow) -> None:
    """Its purge is on record."""
    tx.run("UPDATE agent_runs SET parent_run_id = ? WHERE seq = ?", (record_id(9), run.seq))
    tx.run(
        "INSERT INTO agent_run_purges (run_id, event_count, last_event_hash, actor, purged_at)"
        " VALUES (?, 1, 'h', 'a', 1)",
        (record_id(9),),
    )
    assert examined(tx) == []


def test_a_run_that_was_purged_and_came_back_is_found(tx: Tx, run: RunRow) -> None:
    """As it does when somebody puts back rows of an older file."""
    tx.run(
        "INSERT INTO agent_run_purges (run_id, event_count, last_event_hash, actor, purged_at)"
        " VALUES (?, 1, 'h', 'a', 1)",
        (run.id,),
    )
    assert examined(tx) == [("2", None, "it was purged and is here again", True)]


def test_one_run_is_examined_alone(tx: Tx, run: RunRow) -> None:
    """What is wrong with another run is not told, what is beside its own ledger is."""
    (other,) = agent_runs.with_prefix(tx, record_id(0xA0003))
    tx.run("UPDATE agent_runs SET parent_run_id = ? WHERE seq = ?", (record_id(9), run.seq))
    tamper(tx, other, 1, "actor", "x")
    (now,) = agent_runs.with_prefix(tx, run.id)
    assert list(integrity.examine_run(tx, now)) == [Finding(run.id, None, "its parent run does not exist", broken=True)]
    assert list(integrity.examine_run(tx, other)) == [Finding(other.id, 1, CHANGED, broken=True)]


def _append_raw(tx: Tx, run: RunRow, **fields: Any) -> None:
    """Append an event past the sanitising, as a fault of it would."""
    now = agent_runs.get(tx, run.id)
    assert now is not None
    (made,) = batch([event(7)], ids=Ids(300))
    appending.append(tx, now, [made._replace(**fields)])


@pytest.mark.parametrize(
    "fields",
    [{"payload": json.dumps({"note": KEY})}, {"payload": '{"password":"x"}'}, {"actor": KEY}, {"outcome": KEY}],
)
def test_a_credential_that_was_stored_is_told(tx: Tx, run: RunRow, fields: dict[str, str]) -> None:
    """The ledger is whole, so it is a warning; the sequence is named and the credential is not."""
    _append_raw(tx, run, **fields)
    assert examined(tx) == [("2", 5, "the event holds what looks like a credential", False)]
    assert all(KEY not in str(found) for found in integrity.examine(tx, 5))


def test_a_credential_in_the_description_is_told(tx: Tx, run: RunRow) -> None:
    """Title, workspace, task and metadata of a run."""
    tx.run("UPDATE agent_runs SET title = ? WHERE seq = ?", (KEY, run.seq))
    assert examined(tx) == [("2", None, "its description holds what looks like a credential", False)]
    tx.run("UPDATE agent_runs SET title = 't', metadata = ? WHERE seq = ?", (json.dumps({"a": [KEY]}), run.seq))
    assert examined(tx) == [("2", None, "its description holds what looks like a credential", False)]


def test_marks_are_no_credentials(tx: Tx, run: RunRow) -> None:
    """What sanitising wrote is clean, whatever the key is called."""
    append(
        tx, run, event(payload={"password": KEY, "url": "https://a:b@c/?d", "note": KEY, "maxTokens": 5}), ids=Ids(300)
    )
    assert examined(tx) == []


def test_only_the_first_break_of_a_run_is_told_and_every_run_is(tx: Tx, run: RunRow) -> None:
    """Behind the first break everything is broken."""
    for sequence in (2, 3, 4):
        tamper(tx, run, sequence, "actor", "x")
    tx.run("UPDATE agent_events SET actor = 'x' WHERE run_seq = 3")
    assert examined(tx) == [("2", 2, CHANGED, True), ("3", 1, CHANGED, True)]


def test_a_finding_as_text() -> None:
    """Run, sequence and what is wrong."""
    assert str(Finding("r", 3, "it broke", broken=True)) == "run r at sequence 3: it broke"
    assert str(Finding("r", None, "it broke", broken=True)) == "run r: it broke"


def test_an_examination_sees_one_moment(store: SqliteEngine) -> None:
    """An event that is appended between the look at its run and the look at its ledger does not count."""
    run = store.run_write(lambda tx: open_run(tx, title=KEY))
    store.run_write(lambda tx: append(tx, run, event(1)))
    with store.read() as tx:
        findings = integrity.examine(tx, 5)
        assert next(findings).trouble == "its description holds what looks like a credential"
        store.run_write(lambda tx: append(tx, run, event(2), ids=Ids(50)))
        assert list(findings) == []
