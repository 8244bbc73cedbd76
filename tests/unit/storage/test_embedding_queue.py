"""The queue of texts that wait for vectors."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.storage import embedding_queue
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.embedding_queue import QueueCounts, QueueRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.vectors import Scope
from support.stores import OPTIONS

SCOPE = Scope("note", ("local",))


def queued(seq: int, **fields: object) -> QueueRow:
    """The text of a memory in `local`, written at its number."""
    row = QueueRow("small", "note", seq, "local", "memory", 100 + seq, f"text {seq}", seq)
    return row._replace(**fields)  # type: ignore[arg-type]


def test_what_waits_longest_is_taken_first_and_stays(tx: Tx) -> None:
    """A row is taken again until it is done."""
    embedding_queue.put_many(tx, [queued(2), queued(3), queued(1)])
    assert embedding_queue.take(tx, 9, 2) == [queued(1), queued(2)]
    embedding_queue.done(tx, [queued(1), queued(2)])
    assert embedding_queue.take(tx, 9, 2) == [queued(3)]


def test_a_record_waits_once_for_each_model(tx: Tx) -> None:
    """A later text takes the place of the former and forgets its failures; another model has a row of its own."""
    embedding_queue.put(tx, queued(1))
    embedding_queue.postpone(tx, [queued(1)], "no answer", 50)
    embedding_queue.put(tx, queued(1, source_hash=7, input="new", enqueued_at=5, kind="task"))
    embedding_queue.put(tx, queued(1, model_name="other"))
    assert embedding_queue.take(tx, 9, 9) == [
        queued(1, model_name="other"),
        queued(1, source_hash=7, input="new", enqueued_at=5, kind="task"),
    ]
    assert embedding_queue.take(tx, 9, 9, ["small", "third"]) == [
        queued(1, source_hash=7, input="new", enqueued_at=5, kind="task")
    ]
    assert embedding_queue.take(tx, 9, 9, []) == []


def test_what_was_written_anew_meanwhile_keeps_its_place(tx: Tx) -> None:
    """`done` and `postpone` of the former row change nothing, however little the rows differ."""
    embedding_queue.put(tx, queued(1))
    (taken,) = embedding_queue.take(tx, 9, 9)
    for newer in (queued(1, enqueued_at=2), queued(1, source_hash=7), queued(1, input="override")):
        embedding_queue.put(tx, newer)
        embedding_queue.done(tx, [taken])
        embedding_queue.postpone(tx, [taken], "no answer", 50)
        assert embedding_queue.take(tx, 9, 9) == [newer]


def test_a_failure_waits_and_is_told(tx: Tx) -> None:
    """It comes back at its time, with its attempts; what waits is counted by model."""
    embedding_queue.put_many(tx, [queued(1), queued(2), queued(3, model_name="other")])
    embedding_queue.postpone(tx, [queued(1)], "no answer", 50)
    assert embedding_queue.take(tx, 49, 9, ["small"]) == [queued(2)]
    failed = queued(1, attempts=1, not_before=50, error="no answer")
    assert embedding_queue.take(tx, 50, 9, ["small"]) == [queued(2), failed]
    assert embedding_queue.counts(tx) == [
        QueueCounts("other", 1, 0, 3, None),
        QueueCounts("small", 2, 1, 1, "no answer"),
    ]
    embedding_queue.done(tx, [failed])
    assert embedding_queue.take(tx, 50, 9, ["small"]) == [queued(2)]


def test_a_scope_knows_what_is_pending(tx: Tx) -> None:
    """By model, substrate, namespaces and kind."""
    rows = [
        queued(1),
        queued(1, substrate="entity"),
        queued(2, namespace="other"),
        queued(3, kind="task"),
        queued(4, model_name="other"),
    ]
    embedding_queue.put_many(tx, rows)
    assert embedding_queue.pending(tx, "small", SCOPE) == 2
    assert embedding_queue.pending(tx, "small", SCOPE._replace(namespaces=("local", "other"))) == 3
    assert embedding_queue.pending(tx, "small", SCOPE._replace(kind="task")) == 1
    assert embedding_queue.pending(tx, "other", SCOPE) == 1
    assert embedding_queue.pending(tx, "small", Scope("entity", ("local",))) == 1


def test_a_record_is_removed_for_every_model(tx: Tx) -> None:
    """Another record of the same number is another substrate's and stays; one that does not wait is no error."""
    embedding_queue.put_many(tx, [queued(1), queued(1, model_name="other"), queued(1, substrate="entity"), queued(2)])
    embedding_queue.remove(tx, "note", 1)
    embedding_queue.remove(tx, "note", 77)
    assert embedding_queue.take(tx, 9, 9) == [queued(1, substrate="entity"), queued(2)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 3), st.integers(1, 3)),
        st.tuples(st.just("take"), st.just(0), st.just(0)),
        st.tuples(st.just("done"), st.integers(0, 2), st.just(0)),
        st.tuples(st.just("postpone"), st.integers(0, 2), st.integers(1, 30)),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(steps=STEPS)
def test_the_last_text_of_a_record_is_never_lost(steps: list[tuple[str, int, int]]) -> None:
    """However writes and a worker interleave: what waits is each record's last text, unless just that was done."""
    engine = open_store(MEMORY, OPTIONS)
    waiting: dict[int, QueueRow] = {}
    taken: list[QueueRow] = []
    with engine.read() as tx:
        for now, (step, one, two) in enumerate(steps, 1):
            if step == "put":
                waiting[one] = queued(one, source_hash=two, enqueued_at=now)
                embedding_queue.put(tx, waiting[one])
            elif step == "take":
                taken = embedding_queue.take(tx, now, 3)
                due = [row for row in waiting.values() if row.not_before <= now]
                assert taken == sorted(due, key=lambda row: (row.not_before, row.enqueued_at, row.seq))
            elif one < len(taken):
                row = taken[one]
                same = waiting.get(row.seq)
                same = same if same is not None and same[:8] == row[:8] else None
                if step == "done":
                    embedding_queue.done(tx, [row])
                    if same is not None:
                        del waiting[row.seq]
                else:
                    embedding_queue.postpone(tx, [row], "fault", now + two)
                    if same is not None:
                        waiting[row.seq] = same._replace(
                            attempts=same.attempts + 1, not_before=now + two, error="fault"
                        )
        assert sorted(embedding_queue.take(tx, 10**6, 99)) == sorted(waiting.values())
    engine.close()
