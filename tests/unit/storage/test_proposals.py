"""The proposals table and savepoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.storage import entities, events, proposals
from hivekeep.storage.engine import Tx
from hivekeep.storage.proposals import ProposalFilter, ProposalRow
from hivekeep.storage.savepoints import savepoint
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep_contract.errors import ConcurrentChange, InvalidInput
from support.stores import Explained, entity, event, record_id


def proposal(tx: Tx, number: int, **fields: Any) -> ProposalRow:
    """A stored open proposal with the event that made it; the event has the number plus 1000."""
    made = event(
        number + 1000,
        kind="proposal_created",
        target_id=record_id(number),
        actor="actor:ada",
        aggregate_kind="proposal",
        aggregate_id=record_id(number),
    )
    events.insert(tx, made)
    row = ProposalRow(
        id=record_id(number),
        namespace="local",
        proposer_kind="actor",
        proposer_id="ada",
        title=f"proposal {number}",
        status="open",
        expiry=None,
        created_event_id=made.id,
        created_at=number,
        updated_at=number,
    )._replace(**fields)
    proposals.insert(tx, row)
    return row


def test_a_move_is_stored_and_answered(engine: SqliteEngine) -> None:
    """What was not named stays; what is answered is what is stored."""

    def work(tx: Tx) -> tuple[ProposalRow, ProposalRow | None]:
        old = proposal(tx, 1, expiry=5)
        new = proposals.move(tx, old, status="rejected", review_count=1, reject_count=1, updated_at=9)
        assert new == old._replace(status="rejected", review_count=1, reject_count=1, updated_at=9)
        return new, proposals.get(tx, old.id)

    moved, stored = engine.run_write(work)
    assert moved == stored


@pytest.mark.parametrize("meanwhile", [{"status": "rejected"}, {"review_count": 1}])
def test_a_proposal_moves_only_as_it_was_read(engine: SqliteEngine, meanwhile: dict[str, Any]) -> None:
    """Another status or another review since the read refuses the move and keeps what is stored."""

    def work(tx: Tx) -> None:
        old = proposal(tx, 1)
        moved = proposals.move(tx, old, **meanwhile)
        with pytest.raises(ConcurrentChange) as caught:
            proposals.move(tx, old, status="withdrawn")
        assert caught.value.details == {"reason": "concurrent_change", "id": old.id}
        assert proposals.get(tx, old.id) == moved

    engine.run_write(work)


def test_lists_are_newest_first_and_filtered(engine: SqliteEngine) -> None:
    """Status, proposer and actor are conditions on stored labels; other namespaces are left out."""

    def work(tx: Tx) -> None:
        rows = [proposal(tx, n) for n in (1, 2, 3)]
        proposal(tx, 4, namespace="team")
        closed = proposals.move(tx, rows[1], status="rejected")
        bob = proposal(tx, 5, proposer_id="bob")
        told = event(1, kind="proposal_reviewed", target_id=bob.id, actor="actor:eve", aggregate_kind="proposal")
        events.insert(tx, told)
        events.insert(tx, event(2, target_id=rows[0].id, actor="actor:eve"))

        def listed(filters: ProposalFilter, **page: int) -> list[str]:
            return [row.id for row in proposals.list_page(tx, ("local",), filters, **{"limit": 9, **page})]

        assert listed(ProposalFilter()) == [bob.id, rows[2].id, closed.id, rows[0].id]
        assert listed(ProposalFilter(), limit=1, offset=1) == [rows[2].id]
        assert listed(ProposalFilter(status="rejected")) == [closed.id]
        assert listed(ProposalFilter(proposers=("actor:bob", "bob"))) == [bob.id]
        # the audit row of a read is no part in a proposal
        assert listed(ProposalFilter(actors=("actor:eve",))) == [bob.id]
        assert listed(ProposalFilter(status="open", actors=("actor:ada",))) == [bob.id, rows[2].id, rows[0].id]

    engine.run_write(work)


@pytest.mark.parametrize(
    ("read", "index"),
    [
        (lambda tx: proposals.list_page(tx, ("a", "b"), ProposalFilter(), limit=5), "proposals_listed"),
        (lambda tx: proposals.list_page(tx, ("a", "b"), ProposalFilter(status="open"), limit=5), "proposals_by_status"),
        (lambda tx: proposals.list_page(tx, ("a",), ProposalFilter(actors=("x",)), limit=5), "events_by_target"),
        (lambda tx: proposals.get(tx, record_id(1)), "proposals_id"),
    ],
)
def test_reads_follow_an_index(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """No read walks over the table or sorts it."""
    explained = Explained(tx)
    read(explained)
    assert any(index in step for step in explained.steps), explained.steps
    assert not [step for step in explained.steps if "TEMP B-TREE" in step or step.startswith("SCAN")]


def test_a_savepoint_undoes_its_own_block_only(engine: SqliteEngine) -> None:
    """An error of the contract takes rows, index entries and sequences of the block back; the rest is committed."""

    def fails(tx: Tx) -> None:
        with savepoint(tx):
            entities.insert(tx, entity(2))
            with savepoint(tx):
                entities.insert(tx, entity(3))
            raise InvalidInput("not this")

    def work(tx: Tx) -> None:
        entities.insert(tx, entity(1))
        with pytest.raises(InvalidInput):
            fails(tx)
        with savepoint(tx):
            entities.insert(tx, entity(4))

    engine.run_write(work)
    with engine.read() as tx:
        stored = tx.all("SELECT id FROM entities ORDER BY id")
        indexed = tx.all("SELECT count(*) FROM entity_words WHERE entity_words MATCH 'entity'")
    assert stored == [(record_id(1),), (record_id(4),)]
    assert indexed == [(2,)]


def test_a_fault_in_a_savepoint_ends_the_transaction(engine: SqliteEngine) -> None:
    """What is no error of the contract leaves nothing behind, and the next transaction works."""

    def work(tx: Tx) -> None:
        entities.insert(tx, entity(1))
        with savepoint(tx):
            entities.insert(tx, entity(2))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.run_write(work)
    engine.run_write(lambda tx: entities.insert(tx, entity(3)))
    with engine.read() as tx:
        assert tx.all("SELECT id FROM entities") == [(record_id(3),)]
