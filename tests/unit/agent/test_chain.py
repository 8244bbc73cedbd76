"""The hash of an event: what it is of, and that no column is left out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.canonical import canonical, ts
from hivekeep.agent.chain import event_hash, preimage
from hivekeep.storage.agent_events import LedgerRow

RUN = "00000000-0000-4000-8000-000000000001"
ROW = LedgerRow(
    run_seq=7,
    sequence=3,
    event_id="e-3",
    source_event_id="s-3",
    source_sequence=30,
    event_type="tool.completed",
    source_type="ToolEnd",
    actor="agent:1",
    outcome="passed",
    occurred_at=1_780_000_000_123_000,
    ingested_at=1_780_000_000_456_000,
    payload='{"a":1}',
    redaction='[{"kind":"url","path":"$[\\"payload\\"]"}]',
    previous_hash="0" * 64,
    event_hash="",
)
COVERED = [name for name in LedgerRow._fields if name not in ("run_seq", "event_hash")]


def defined(run_id: str, row: LedgerRow) -> dict[str, Any]:
    """The object that is hashed, field by field."""
    return {
        "protocol": "hivekeep-ledger-event-v1",
        "runId": run_id,
        "sequence": row.sequence,
        "eventId": row.event_id,
        "previousHash": row.previous_hash,
        "eventType": row.event_type,
        "sourceEventId": row.source_event_id,
        "sourceSequence": row.source_sequence,
        "sourceType": row.source_type,
        "actor": row.actor,
        "outcome": row.outcome,
        "occurredAt": ts(row.occurred_at),
        "ingestedAt": ts(row.ingested_at),
        "payload": json.loads(row.payload),
        "redaction": json.loads(row.redaction),
    }


def test_the_hash_of_an_event() -> None:
    """One hash, pinned: a change of the form needs another protocol tag."""
    assert event_hash(RUN, ROW) == "681363a199d30c8e26525a5a5b1ab7d81d968f1b2dc3a719feffc6af6efdd3ee"


texts = st.text(max_size=8)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.builds(
        LedgerRow,
        st.just(1),
        st.integers(1, 2**40),
        texts,
        st.none() | texts,
        st.none() | st.integers(0, 2**53 - 1),
        texts,
        st.none() | texts,
        texts,
        st.none() | texts,
        st.integers(0, 10**15).map(lambda ms: ms * 1000 // 1000 * 1000),
        st.integers(0, 10**15).map(lambda ms: ms // 1000 * 1000),
        st.recursive(st.none() | st.floats(allow_nan=False, allow_infinity=False) | texts, st.lists, max_leaves=4).map(
            lambda value: canonical(value).decode()
        ),
        st.just("[]"),
        st.just("f" * 64),
        st.just(""),
    )
)
def test_the_preimage_is_the_canonical_json_of_the_event(row: LedgerRow) -> None:
    """The text that is put together by hand is the one that canonical JSON gives for the object."""
    assert preimage(RUN, row) == canonical(defined(RUN, row))


@pytest.mark.parametrize("name", COVERED)
def test_every_column_is_covered(name: str) -> None:
    """Another value in any column gives another hash; the absent one is another value than any text."""
    value = getattr(ROW, name)
    changed = value + 1000 if isinstance(value, int) else value + " "
    hashes = {event_hash(RUN, ROW), event_hash(RUN, ROW._replace(**{name: changed}))}
    if name in ("source_event_id", "source_sequence", "source_type", "outcome"):
        hashes.add(event_hash(RUN, ROW._replace(**{name: None})))
        assert len(hashes) == 3
    else:
        assert len(hashes) == 2


def test_the_run_is_covered_and_the_number_of_its_row_is_not() -> None:
    """An event does not fit into another run; where a store keeps it does not matter."""
    assert event_hash("x", ROW) != event_hash(RUN, ROW)
    assert event_hash(RUN, ROW._replace(run_seq=8, event_hash="x")) == event_hash(RUN, ROW)


def test_the_hash_is_sha_256_of_the_preimage() -> None:
    """64 hex digits in lower case."""
    assert event_hash(RUN, ROW) == hashlib.sha256(preimage(RUN, ROW)).hexdigest()
