"""`agent.promotions`: a proposal of the ledger becomes a candidate entry of the curated memory.

Invariant: one proposal becomes one entry, a candidate that nobody vouches for, and nothing here ever verifies one. The
entry and its link to run, event, delivery and intake are one transaction (gateway rules, promotions).
"""

from __future__ import annotations

from typing import Any, cast

from hivekeep.agent import sanitising
from hivekeep.agent.canonical import canonical, digest, ts, ts_us
from hivekeep.agent.context import AgentContext
from hivekeep.agent.curated import checks, lifecycle, views
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.content import Content
from hivekeep.agent.curated.lifecycle import Author, NewEntry, Stored
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage import agent_deliveries, agent_intakes, agent_memory_links, agent_retrieval
from hivekeep.storage.agent_memory_links import LinkRow, ProposalRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load
from hivekeep_contract.gateway import PROMOTION_FIELDS, PROMOTION_REFUSALS
from hivekeep_contract.gateway_errors import Conflict, NotFound, SecurityRejection
from hivekeep_contract.limits import (
    PROMOTION_CONFIDENCE,
    PROMOTION_PROVENANCE,
    PROMOTION_STATUS,
    PROMOTION_TRUST,
)
from hivekeep_contract.models import gateway as models

_PAYLOAD = "/payload"


def promotions(ctx: AgentContext, body: models.PromotionsBody) -> Work[models.Promoted]:
    """Promote a proposal, in any state of the run (gateway rules, promotions)."""
    given = sanitising.clean(ctx.the_run.workspace, body)

    def mutate(tx: Tx) -> dict[str, Any]:
        return cast("dict[str, Any]", _promote(ctx, tx, given))

    request = {"runId": ctx.the_run.id, "body": given}
    acknowledged = yield from once(ctx, run_scope(ctx), digest(request), mutate)
    return cast(models.Promoted, acknowledged.data)


def _promote(ctx: AgentContext, tx: Tx, given: models.PromotionsBody) -> models.Promoted:
    """The entry of a proposal, made now unless it was made before.

    Raises NotFound for a proposal or delivery that is not of this run, Conflict for a delivery before the proposal and
    for content that the memory has from elsewhere, ValidationError and SecurityRejection for what cannot be an entry.
    """
    run = ctx.run_now(tx)
    event_id = given["proposalEventId"]
    proposal = agent_memory_links.proposal(tx, run.seq, event_id)
    if proposal is None:
        raise NotFound("no_record")
    _check_delivery(tx, run, proposal, given.get("deliveryId"))
    link = agent_memory_links.of_event(tx, event_id)
    if link is None:
        link, stored = _made(ctx, tx, run, proposal, given)
    else:
        entry = lifecycle.get(tx, link.entry_id)
        stored = Stored(entry, lifecycle.current(tx, entry), changed=False)
    return {"entry": cast(models.EntryView, views.entry(stored)), "link": _view(run, link), "untrusted": True}


def _check_delivery(tx: Tx, run: RunRow, proposal: ProposalRow, delivery_id: str | None) -> None:
    if delivery_id is None:
        return
    delivery = agent_deliveries.get(tx, delivery_id)
    if delivery is None or delivery.run_seq != run.seq:
        raise NotFound("no_record")
    if delivery.through_sequence < proposal.sequence:
        raise Conflict("delivery_too_early")


def _made(
    ctx: AgentContext, tx: Tx, run: RunRow, proposal: ProposalRow, given: models.PromotionsBody
) -> tuple[LinkRow, Stored]:
    """The new entry and its link."""
    content = _content(proposal, _reference(tx, run, given))
    if agent_retrieval.says(tx, run.workspace, agent_retrieval.text_key(content.title, content.summary, content.body)):
        raise Conflict("entry_exists")
    new = NewEntry(run.workspace, content, PROMOTION_STATUS, PROMOTION_TRUST, PROMOTION_CONFIDENCE)
    now_us = ts_us(given["createdAt"])
    stored = lifecycle.record(tx, new, Author(given["actor"], now_us))
    link = LinkRow(
        id=ctx.new_id(),
        run_seq=run.seq,
        event_id=given["proposalEventId"],
        delivery_id=given.get("deliveryId"),
        entry_id=stored.entry.id,
        created_at=now_us,
    )
    agent_memory_links.insert(tx, link)
    return link, stored


def _reference(tx: Tx, run: RunRow, given: models.PromotionsBody) -> str:
    """What the provenance of the entry refers to, as canonical JSON."""
    known = {
        "eventId": given["proposalEventId"],
        "runId": run.id,
        "intakeId": agent_intakes.get(tx, run.seq).session_id,
    }
    if "deliveryId" in given:
        known["deliveryId"] = given["deliveryId"]
    return canonical(known).decode()


def _content(proposal: ProposalRow, reference: str) -> Content:
    """The entry that a proposal asks for. A proposal of which a credential was masked is refused whole."""
    if any(redaction["kind"] in PROMOTION_REFUSALS for redaction in load(proposal.redaction)):
        raise SecurityRejection("secret", field=_PAYLOAD)
    said = checks.members(load(proposal.payload), _PAYLOAD, PROMOTION_FIELDS)
    provenance = {"type": PROMOTION_PROVENANCE, "reference": reference}
    return contents.read({**said, "provenance": provenance}, _PAYLOAD)


def _view(run: RunRow, link: LinkRow) -> models.MemoryLink:
    return {
        "linkId": link.id,
        "runId": run.id,
        "eventId": link.event_id,
        "deliveryId": link.delivery_id,
        "entryId": link.entry_id,
        "createdAt": ts(link.created_at),
    }
