"""Appending to a ledger: numbers, chain, what is the same event, conflicts, and what it costs."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.agent import appending, integrity
from hivekeep.agent.chain import event_hash
from hivekeep.agent.events import NewEvent
from hivekeep.storage import agent_events, agent_runs
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.connections import SqliteTx, open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.gateway_errors import Conflict, IntegrityError
from hivekeep_contract.limits import GATEWAY_BATCH_MAX, GATEWAY_PAGE_MAX_BYTES
from support.ledgers import NOW, Ids, append, batch, event, open_run, stored, work_of
from support.stores import OPTIONS, record_id

LATER = NOW + 60_000_000


def refused(tx: Tx, run: RunRow, *inputs: Any) -> str:
    """The reason of the conflict that a batch meets; the ledger stays as it is."""
    before = stored(tx, run), agent_runs.get(tx, run.id)
    with pytest.raises(Conflict) as caught:
        append(tx, run, *inputs, now_us=LATER, ids=Ids(9000))
    assert (stored(tx, run), agent_runs.get(tx, run.id)) == before
    return caught.value.reason


def test_events_are_numbered_and_chained(tx: Tx) -> None:
    """From 1 without a gap, each with the hash of the one before it, the first with zeros."""
    run = open_run(tx)
    first = append(tx, run, event(1, sourceSequence=9), event(2, sourceSequence=3), event(3))
    second = append(tx, run, event(4), now_us=LATER, ids=Ids(10))
    assert (first.sequences, first.source_sequences) == ([1, 2, 3], [9, 3, None])
    assert first.event_ids == [record_id(number) for number in (1, 2, 3)]
    assert (second.sequences, second.event_ids) == ([4], [record_id(10)])
    rows = stored(tx, run)
    assert [row.sequence for row in rows] == [1, 2, 3, 4]
    assert [row.previous_hash for row in rows] == ["0" * 64, *(row.event_hash for row in rows[:3])]
    assert [row.event_hash for row in rows] == [event_hash(run.id, row) for row in rows]


def test_the_counters_of_the_run_follow(tx: Tx) -> None:
    """The last number and hash, the largest number of the client, the moment of the last change; nothing else."""
    run = open_run(tx)
    append(tx, run, event(1, sourceSequence=9))
    done = append(tx, run, event(2, sourceSequence=3), now_us=LATER, ids=Ids(10))
    expected = run._replace(
        last_sequence=2, last_source_sequence=9, last_event_hash=stored(tx, run)[-1].event_hash, updated_at=LATER
    )
    assert done.run == agent_runs.get(tx, run.id) == expected


def test_runs_have_ledgers_of_their_own(tx: Tx) -> None:
    """Numbers and source ids of one run say nothing of another."""
    one, two = open_run(tx, 1), open_run(tx, 2)
    append(tx, one, event(1, sourceEventId="s"))
    done = append(tx, two, event(2, sourceEventId="s"), ids=Ids(10))
    assert (done.sequences, done.run.last_sequence) == ([1], 1)
    assert stored(tx, two)[0].previous_hash == "0" * 64


@pytest.mark.parametrize(
    "fields", [{"sourceEventId": "s-{}"}, {"eventId": "e-{}"}, {"sourceEventId": "s-{}", "eventId": "e-{}"}]
)
def test_a_batch_that_is_stored_is_acknowledged(tx: Tx, fields: dict[str, str]) -> None:
    """In the order of its old numbers, whatever the order now, with the ids that it got; nothing is added."""
    run = open_run(tx)
    append(tx, run, event(0))
    said = [
        event(number, sourceSequence=number * 10, **{name: form.format(number) for name, form in fields.items()})
        for number in (1, 2, 3)
    ]
    done = append(tx, run, *said, ids=Ids(10))
    for again in (said, said[::-1]):
        assert append(tx, run, *again, now_us=LATER, ids=Ids(20)) == done._replace(run=done.run)
    (part,) = append(tx, run, said[1], now_us=LATER, ids=Ids(20)).sequences
    assert part == 3
    assert len(stored(tx, run)) == 4


def test_the_moment_of_an_undated_event_is_when_it_came_in(tx: Tx) -> None:
    """Reported again without a moment, or with that very one, it is the same; with another it is not."""
    run = open_run(tx)
    append(tx, run, event(1, sourceEventId="s"))
    assert append(tx, run, event(1, sourceEventId="s"), now_us=LATER).sequences == [1]
    said = event(1, sourceEventId="s", occurredAt="2026-05-28T20:26:40.000Z")
    assert append(tx, run, said, now_us=LATER).sequences == [1]
    assert refused(tx, run, event(1, sourceEventId="s", occurredAt="2026-05-28T20:26:40.001Z")) == "source_id_reused"


@pytest.mark.parametrize(
    "other",
    [
        {"eventType": "step.failed"},
        {"actor": "agent:2"},
        {"payload": {"step": 2}},
        {"payload": {"step": 1, "token": "x"}},
        {"outcome": "ok"},
        {"sourceType": "Step"},
        {"sourceSequence": 8},
        {"occurredAt": "2026-01-01T00:00:00.000Z"},
    ],
)
def test_a_known_id_with_other_content_is_a_conflict(tx: Tx, other: dict[str, Any]) -> None:
    """Each part of the content counts, for the id of the client and for the id of the event."""
    run = open_run(tx)
    append(tx, run, event(1, sourceEventId="s"), event(1, eventId="e"))
    assert refused(tx, run, event(**{"sourceEventId": "s", **other})) == "source_id_reused"
    assert refused(tx, run, event(**{"eventId": "e", **other})) == "event_id_reused"


def test_the_redaction_list_is_a_part_of_the_content(tx: Tx) -> None:
    """A credential that was masked and a mark that was sent are two events."""
    run = open_run(tx)
    append(tx, run, event(sourceEventId="s", payload={"token": "x"}))
    assert append(tx, run, event(sourceEventId="s", payload={"token": "y"})).sequences == [1]
    assert refused(tx, run, event(sourceEventId="s", payload={"token": "[REDACTED]"})) == "source_id_reused"


def test_the_same_id_twice_in_a_batch_is_a_conflict(tx: Tx) -> None:
    """Also when the two say the same, and when the batch is stored."""
    run = open_run(tx)
    for name in ("sourceEventId", "eventId"):
        assert refused(tx, run, event(1, **{name: "x"}), event(1, **{name: "x"})) == "batch_repeats"
    append(tx, run, event(1, sourceEventId="x"))
    assert refused(tx, run, event(1, sourceEventId="x"), event(1, sourceEventId="x")) == "batch_repeats"


def test_a_batch_of_which_some_are_stored_is_a_conflict(tx: Tx) -> None:
    """A new event with or without ids beside a stored one."""
    run = open_run(tx)
    append(tx, run, event(1, sourceEventId="s-1"))
    for new in (event(2), event(2, sourceEventId="s-2"), event(2, eventId="e-2")):
        assert refused(tx, run, event(1, sourceEventId="s-1"), new) == "batch_partly_stored"
        assert refused(tx, run, new, event(1, sourceEventId="s-1")) == "batch_partly_stored"


def test_an_event_id_of_another_run_is_a_conflict(tx: Tx) -> None:
    """Event ids are of all runs, whatever the event says; also one that the server made."""
    one, two = open_run(tx, 1), open_run(tx, 2)
    append(tx, one, event(1, eventId="e"), event(2))
    assert refused(tx, two, event(1, eventId="e")) == "event_id_reused"
    assert refused(tx, two, event(2, eventId=record_id(1))) == "event_id_reused"


def test_two_ids_of_two_events_are_a_conflict(tx: Tx) -> None:
    """The id of one stored event and the source id of another lead nowhere."""
    run = open_run(tx)
    append(tx, run, event(1, eventId="e-1", sourceEventId="s-1"), event(1, eventId="e-2", sourceEventId="s-2"))
    assert refused(tx, run, event(1, eventId="e-1", sourceEventId="s-2")) == "source_id_reused"
    assert refused(tx, run, event(1, eventId="e-1", sourceEventId="s-3")) == "event_id_reused"


def test_a_ledger_that_ends_elsewhere_is_not_added_to(tx: Tx) -> None:
    """A run that was read before another transaction wrote cannot fork the chain."""
    run = open_run(tx)
    append(tx, run, event(1))
    with pytest.raises(IntegrityError, match="broken_record"):
        appending.append(tx, run._replace(last_sequence=5), batch([event(2)], ids=Ids(10)))


def test_the_fields_of_a_row_are_those_of_an_event_in_their_order() -> None:
    """A row is made of an event by place, not by name."""
    shared = NewEvent._fields[: NewEvent._fields.index("is_named")]
    assert ("run_seq", "sequence", *shared, "previous_hash", "event_hash") == LedgerRow._fields


# what it costs


def test_appending_costs_the_same_at_any_length(store: SqliteEngine, path: str) -> None:
    """Request 500 of a run takes the statements and instructions of request 1, with ids in every event, and walks past
    no row. The run has an event already, because a lookup among none takes a few instructions less."""
    run = store.run_write(lambda tx: open_run(tx))
    connection = open_connection(path, "writer", OPTIONS)
    tx, ids = SqliteTx(connection), Ids()
    append(tx, run, event(1, sourceEventId="z"), ids=ids)

    def request(number: int) -> None:
        said = [event(place, sourceEventId=f"s-{number}-{place}", eventId=f"e-{number}-{place}") for place in range(5)]
        append(tx, run, *said, ids=ids)

    costs = []
    for number in range(1, 501):
        connection.execute("BEGIN IMMEDIATE")
        costs.append(work_of(connection, lambda number=number: request(number)))  # type: ignore[misc]
        connection.execute("COMMIT")
    connection.close()
    assert costs[0].statements == 9  # the run, two lookups, five rows, the counters
    assert costs == [costs[0]] * 500
    assert costs[0].walked == 0


def test_looking_at_events_without_ids_costs_nothing(store: SqliteEngine, path: str) -> None:
    """Only events that carry an id are looked up."""
    run = store.run_write(lambda tx: open_run(tx))
    connection = open_connection(path, "writer", OPTIONS)
    cost = work_of(connection, lambda: append(SqliteTx(connection), run, event(1), event(2)))
    connection.close()
    assert cost.statements == 4  # the run, two rows, the counters


@pytest.mark.parametrize("event_type", [None, "step.failed"])
def test_every_page_costs_the_same(store: SqliteEngine, path: str, event_type: str | None) -> None:
    """SQLite carries out as many instructions for page 150 as for page 1, all events or those of one type."""

    def fill(tx: Tx) -> RunRow:
        run = open_run(tx)
        ids = Ids()
        for start in range(0, 3200, GATEWAY_BATCH_MAX):
            kinds = ["step.failed" if number % 2 else "step.completed" for number in range(start, start + 200)]
            append(tx, run, *(event(number, eventType=kind) for number, kind in enumerate(kinds, 10_000)), ids=ids)
        return run

    run = store.run_write(fill)
    connection = open_connection(path, "reader", OPTIONS)
    tx, costs, after = SqliteTx(connection), [], 0
    for _ in range(150):
        pages = []
        costs.append(
            work_of(
                connection,
                lambda after=after, pages=pages: pages.append(  # type: ignore[misc]
                    agent_events.page(tx, run.seq, after=after, limit=10, event_type=event_type, max_bytes=1 << 20)
                ),
            )
        )
        assert len(pages[0].rows) == 10
        after = pages[0].next_after
    connection.close()
    assert after == (3000 if event_type else 1500)
    assert costs == [costs[0]] * 150
    assert costs[0].walked == 0


# pages


def test_a_page_ends_before_it_gets_too_large(tx: Tx) -> None:
    """Sixteen payloads of 64 KiB are a page of a mebibyte; the cursor leads on until there is no more."""
    run = open_run(tx)
    note = "x" * (65_536 - 2 - len('{"note":""}'))  # two more are the empty redaction list
    append(tx, run, *(event(payload={"note": note}) for _ in range(40)))
    lengths, after = [], 0
    while after is not None:
        page = agent_events.page(tx, run.seq, after=after, limit=100, max_bytes=GATEWAY_PAGE_MAX_BYTES)
        assert [row.sequence for row in page.rows] == list(range(after + 1, after + 1 + len(page.rows)))
        lengths.append(len(page.rows))
        after = page.next_after
    assert lengths == [16, 16, 8]


def test_a_page_has_one_event_at_least(tx: Tx) -> None:
    """An event larger than a page is a page of its own."""
    run = open_run(tx)
    append(tx, run, event(1), event(2))
    page = agent_events.page(tx, run.seq, after=0, limit=100, max_bytes=1)
    assert ([row.sequence for row in page.rows], page.next_after) == ([1], 1)


@pytest.mark.parametrize(
    ("after", "limit", "event_type", "sequences", "next_after"),
    [
        (0, 2, None, [1, 2], 2),
        (2, 3, None, [3, 4, 5], None),
        (2, 2, None, [3, 4], 4),
        (5, 2, None, [], None),
        (99, 2, None, [], None),
        (0, 1, "step.failed", [2], 2),
        (2, 1, "step.failed", [4], None),
        (0, 9, "file.changed", [], None),
    ],
)
def test_pages(
    tx: Tx, after: int, limit: int, event_type: str | None, sequences: list[int], next_after: int | None
) -> None:
    """Behind a number, at most so many, of one type; the cursor is the last number while there is more."""
    run = open_run(tx)
    append(tx, run, *(event(eventType="step.completed" if number % 2 else "step.failed") for number in (1, 2, 3, 4, 5)))
    page = agent_events.page(tx, run.seq, after=after, limit=limit, event_type=event_type, max_bytes=1 << 20)
    assert ([row.sequence for row in page.rows], page.next_after) == (sequences, next_after)


# properties


@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans(), st.integers(0, 1)), min_size=1, max_size=4),
        max_size=12,
    )
)
def test_any_series_of_batches_leaves_a_sound_ledger(tx: Tx, batches: list[list[tuple[str, bool, int]]]) -> None:
    """Batches with fresh, repeated and clashing ids: each is stored whole, acknowledged whole or refused, and a model
    that only knows which source ids are taken says which."""
    tx.run("SAVEPOINT series")
    run, ids = open_run(tx), Ids()
    taken: dict[str, tuple[int, int]] = {}
    length = 0
    for said in batches:
        named = [name for name, is_named, _ in said if is_named]
        clash = [name for name, is_named, content in said if is_named and name in taken and taken[name][1] != content]
        known = [name for name in named if name in taken]
        inputs = [event(content, **({"sourceEventId": name} if is_named else {})) for name, is_named, content in said]
        if len(set(named)) < len(named) or clash or (known and len(known) < len(said)):
            with pytest.raises(Conflict):
                append(tx, run, *inputs, ids=ids)
            continue
        done = append(tx, run, *inputs, ids=ids)
        if known:
            assert done.sequences == sorted(taken[name][0] for name in known)
        else:
            assert done.sequences == list(range(length + 1, length + 1 + len(said)))
            length += len(said)
            taken |= {
                name: (number, content)
                for number, (name, is_named, content) in zip(done.sequences, said, strict=True)
                if is_named
            }
    assert [row.sequence for row in stored(tx, run)] == list(range(1, length + 1))
    tx.run("ROLLBACK TO series")
    tx.run("RELEASE series")


def test_eight_writers_leave_contiguous_ledgers(path: str) -> None:
    """Eight threads append to two runs at once: every number of a run is given once, and the chains hold."""
    store = open_store(path, OPTIONS, threaded=True)
    runs = [store.run_write(lambda tx, number=number: open_run(tx, number)) for number in (1, 2)]  # type: ignore[misc]

    def write(writer: int) -> list[tuple[int, int]]:
        given = []
        for request in range(15):
            run = runs[(writer + request) % 2]
            said = [event(place, sourceEventId=f"{writer}-{request}-{place}") for place in range(1 + request % 3)]
            ids = Ids(writer * 1000 + request * 10)
            done = store.run_write(lambda tx, run=run, said=said, ids=ids: append(tx, run, *said, ids=ids))  # type: ignore[misc]
            given += [(run.seq, sequence) for sequence in done.sequences]
        return given

    with ThreadPoolExecutor(8) as threads:
        given = [place for places in threads.map(write, range(8)) for place in places]
    with store.read() as tx:
        for run in runs:
            rows = stored(tx, run)
            assert [row.sequence for row in rows] == list(range(1, 121))
            assert sorted(sequence for seq, sequence in given if seq == run.seq) == list(range(1, 121))
        assert list(integrity.examine(tx, 5)) == []
    store.close()


def test_payloads_are_stored_as_canonical_json(tx: Tx) -> None:
    """What is hashed is what is stored and what a reader parses."""
    run = open_run(tx)
    append(tx, run, event(payload={"b": 1.0, "a": "é\u0000"}))
    (row,) = stored(tx, run)
    assert row.payload == '{"a":"é\\u0000","b":1}'
    assert json.loads(row.payload) == {"a": "é\u0000", "b": 1}
