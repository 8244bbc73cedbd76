"""Handing out a candidate: everything that it relies on is looked at once more, then exactly it is stored.

Invariant: what was delivered was current and retrievable when the delivery was committed, and nobody ranks in between:
a candidate that no longer holds is a conflict that leaves nothing behind. No text of an entry is copied (gateway rules,
delivery).
"""

from __future__ import annotations

from hivekeep.agent import broker
from hivekeep.agent.broker import Candidate, Item
from hivekeep.storage import agent_deliveries, agent_retrieval, agent_runs
from hivekeep.storage.agent_deliveries import DeliveryRow, ItemRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep_contract.gateway_errors import Conflict, NotFound
from hivekeep_contract.limits import CONTEXT_POLICY
from hivekeep_contract.models import gateway as models


def deliver(tx: Tx, candidate: Candidate, now_us: int) -> models.Context:
    """Store a candidate as a delivery and answer it; one that repeats a stored delivery is only answered.

    Raises NotFound for a run that is gone, and Conflict when the run, the project, the deliveries before, or any
    selected entry is not as it was ranked.
    """
    _check_run(tx, candidate.run)
    if not _holds(tx, candidate):
        raise Conflict("context_changed")
    if not candidate.stored:
        items = [_item_row(rank, item) for rank, item in enumerate(candidate.items, 1)]
        agent_deliveries.insert(tx, _row(candidate, now_us), items)
    return _context(candidate)


def newer_revisions(tx: Tx, run_seq: int) -> list[str]:
    """Delivered entries of a run that were revised since, for the advice that context is stale."""
    return agent_deliveries.outdated(tx, run_seq)


def contradictions(tx: Tx, run_seq: int) -> list[tuple[str, str]]:
    """Verified entries of which both were delivered to a run and that contradict each other."""
    return agent_deliveries.contradicting(tx, run_seq)


def stored_entry_count(tx: Tx, workspace: str) -> int:
    """How many entries of a workspace could be delivered."""
    return agent_retrieval.stored_count(tx, workspace)


def _check_run(tx: Tx, ranked: RunRow) -> None:
    """Raise unless the run stands where it stood: who reports at the same time is told so, not that memory changed."""
    run = agent_runs.get(tx, ranked.id)
    if run is None:
        raise NotFound("no_run")
    if run.status != ranked.status:
        raise Conflict("run_closed")
    if run.last_sequence != ranked.last_sequence:
        raise Conflict("run_moved_on")


def _holds(tx: Tx, candidate: Candidate) -> bool:
    if broker.workspaces(tx, candidate.run) != candidate.workspaces or not _history_holds(tx, candidate):
        return False
    states = agent_retrieval.states(tx, [item.state.id for item in candidate.items])
    return all(states.get(item.state.id) == item.state for item in candidate.items)


def _history_holds(tx: Tx, candidate: Candidate) -> bool:
    """Whether the run had no delivery since the ranking; a stored one must only still be there."""
    if candidate.stored:
        return agent_deliveries.get(tx, candidate.delivery_id) is not None
    return broker.history_hash(agent_deliveries.newest_id(tx, candidate.run.seq)) == candidate.history_hash


def _row(candidate: Candidate, now_us: int) -> DeliveryRow:
    return DeliveryRow(
        id=candidate.delivery_id,
        run_seq=candidate.run.seq,
        through_sequence=candidate.run.last_sequence,
        session_id=candidate.session_id,
        profile_hash=candidate.profile_hash,
        query_hash=candidate.query_hash,
        history_hash=candidate.history_hash,
        policy_version=CONTEXT_POLICY,
        character_budget=candidate.budget,
        character_count=sum(item.content["characterCount"] for item in candidate.items),
        truncated=candidate.truncated,
        created_at=now_us,
    )


def _item_row(rank: int, item: Item) -> ItemRow:
    return ItemRow(
        delivery_seq=0,
        rank=rank,
        entry_id=item.state.id,
        revision=item.state.revision,
        origin=item.origin,
        score_components=dump(item.components),
        selection_reasons=dump(item.reasons),
        character_count=item.content["characterCount"],
        truncated=item.content["truncated"],
    )


def _context(candidate: Candidate) -> models.Context:
    """The context object of the contract."""
    return {
        "deliveryId": candidate.delivery_id,
        "runId": candidate.run.id,
        "throughSequence": candidate.run.last_sequence,
        "taskProfileHash": candidate.profile_hash,
        "queryHash": candidate.query_hash,
        "policyVersion": CONTEXT_POLICY,
        "items": [_item(rank, item) for rank, item in enumerate(candidate.items, 1)],
        "untrusted": True,
    }


def _item(rank: int, item: Item) -> models.ContextItem:
    return {
        "entryId": item.state.id,
        "entryRevision": item.state.revision,
        "rank": rank,
        "scoreComponents": item.components,
        "selectionReasons": list(item.reasons),
        "content": item.content,
        "origin": item.origin,
        "untrusted": True,
    }
