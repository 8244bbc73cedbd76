"""propose, review and withdraw: changes that somebody else looks at before they happen.

Invariant: a proposal moves along the table of its statuses and no other way, each move with its event in the same
transaction. A change that was approved is written as a whole or not at all; when it is not, nothing of it but the
failure is remembered. Approval and application are one transaction, so nobody ever sees a proposal `applying`.
"""

from dataclasses import replace
from typing import Any, Final, NamedTuple

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Aggregate, Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.changeset import Changeset, Done, calls, carry_out
from hivekeep.storage import events, proposals
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.proposals import ProposalRow
from hivekeep.storage.savepoints import savepoint
from hivekeep.times import iso, iso_or_none, now_us
from hivekeep_contract.errors import HivekeepError, NotProposer, ProposalClosed, ProposalExpired, SelfApproval
from hivekeep_contract.models import kg as models

PROPOSAL = "proposal"
APPLIER = "propose-apply"
"""The id under which the program carries an approved change out."""

OPEN: Final = "open"
APPROVED: Final = "approved"
APPLYING: Final = "applying"
APPLIED: Final = "applied"
WITHDRAWN: Final = "withdrawn"

REVIEWABLE = (OPEN, "changes_requested")
WITHDRAWABLE = (*REVIEWABLE, APPROVED)
_STATUS_AFTER = {"approve": APPROVED, "reject": "rejected", "request_changes": "changes_requested"}
"""What a decision makes of the status; a comment leaves it."""


class Application(NamedTuple):
    """What became of an approved change: the records it wrote with warnings about them, or why it wrote nothing."""

    records: list[str]
    warnings: list[models.Warning]
    error: models.ApplyError | None


def propose(ctx: Context, args: models.ProposeArgs) -> models.Proposed:
    """Store a change for review; raises InvalidInput, NotFound for the parent, SecretDetected."""
    refuse_secrets(
        (
            ("proposal.title", args.title),
            ("proposal.description", args.description),
            ("proposal.reviewers", args.reviewers),
            ("proposal.changeset", args.changeset),
        )
    )
    calls(ctx.ontology, args.changeset)
    if args.parent_id is not None:
        _find(ctx, "parent_id", args.parent_id)
    proposal_id = new_id()
    row = ProposalRow(
        id=proposal_id,
        namespace=ctx.namespace,
        proposer_kind=ctx.caller.kind,
        proposer_id=ctx.caller.id,
        title=args.title,
        status=OPEN,
        expiry=args.expiry,
        created_event_id=_remember_created(ctx, proposal_id, args),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    proposals.insert(ctx.tx, row)
    ctx.touch("event", row.id)
    return {
        "id": row.id,
        "full_id": row.id,
        "parent_id": args.parent_id,
        "status": OPEN,
        "proposer": ctx.caller.caller_label,
        "title": row.title,
    }


def review(ctx: Context, args: models.ReviewArgs) -> models.Reviewed:
    """Record a decision, and carry an approved change out.

    Raises NotFound, Ambiguous, ProposalClosed, SelfApproval, ProposalExpired, ConcurrentChange, SecretDetected.
    """
    refuse_secrets((("review.comment", args.comment),))
    row = _find(ctx, "id", args.id)
    ctx.touch("event", row.id)
    _refuse_closed("review", row, REVIEWABLE)
    if args.decision == "approve":
        _refuse_self_approval(ctx, row)
        _refuse_expired(ctx, row)
    row = _decided(ctx, row, args)
    answer: models.Reviewed = {
        "id": row.id,
        "reviewer": ctx.caller.caller_label,
        "decision": args.decision,
        "status": shapes.status(row),
    }
    if args.decision == "approve":
        _apply(ctx, row, answer)
    return answer


def withdraw(ctx: Context, args: models.WithdrawArgs) -> models.Withdrawn:
    """Take a proposal back; raises NotFound, Ambiguous, NotProposer, ProposalClosed, SecretDetected."""
    refuse_secrets((("withdraw.rationale", args.rationale),))
    row = _find(ctx, "id", args.id)
    ctx.touch("event", row.id)
    proposer = Caller(row.proposer_kind, row.proposer_id)
    if not ctx.caller.is_same_actor(proposer):
        raise NotProposer(
            f"withdraw: {row.id} was proposed by {proposer.label}; only the proposer may withdraw it",
            details={"proposer": proposer.label},
        )
    _refuse_closed("withdraw", row, WITHDRAWABLE)
    row = proposals.move(ctx.tx, row, status=WITHDRAWN, updated_at=ctx.now_us)
    by = ctx.caller.caller_label
    payload = {"by": by, "rationale": args.rationale, "status": row.status}
    ctx.emit_of(_aggregate(row.id), "proposal_withdrawn", {"proposal_id": row.id, **payload})
    return {"id": row.id, "status": WITHDRAWN, "by": by}


def proposed(ctx: Context, row: ProposalRow) -> dict[str, Any]:
    """What was proposed: the payload of the event that made the proposal."""
    event = events.get(ctx.tx, row.created_event_id)
    assert event is not None
    return load_object(event.payload)


def _find(ctx: Context, param: str, reference: str) -> ProposalRow:
    """A proposal of the caller's primary namespace; raises NotFound and Ambiguous."""
    wanted = Wanted(param, (PROPOSAL,), by_name=False, namespaces=(ctx.namespace,))
    row = proposals.get(ctx.tx, resolve(ctx.tx, reference, wanted, ctx.caller).id)
    assert row is not None
    return row


def _aggregate(proposal_id: str) -> Aggregate:
    return Aggregate(PROPOSAL, proposal_id)


def _remember_created(ctx: Context, proposal_id: str, args: models.ProposeArgs) -> str:
    payload = {
        "proposal_id": proposal_id,
        "proposer": ctx.caller.caller_label,
        "title": args.title,
        "description": args.description,
        "changeset": args.changeset,
        "reviewers": args.reviewers or [],
        "expiry": iso_or_none(args.expiry),
        "parent_id": args.parent_id,
        "status": OPEN,
    }
    return ctx.emit_of(_aggregate(proposal_id), "proposal_created", payload)


def _refuse_closed(verb: str, row: ProposalRow, accepted: tuple[str, ...]) -> None:
    if row.status not in accepted:
        raise ProposalClosed(
            f"{verb}: the proposal {row.id} is {row.status}; accepted for one that is {' or '.join(accepted)}",
            details={"reason": "proposal_closed", "status": row.status},
        )


def _refuse_self_approval(ctx: Context, row: ProposalRow) -> None:
    proposer = Caller(row.proposer_kind, row.proposer_id)
    if ctx.caller.is_same_actor(proposer) and not proposer.unattributed:
        raise SelfApproval(
            f"review: {proposer.label} proposed {row.id} and may not approve it; another actor may",
            details={"proposer": proposer.label},
        )


def _refuse_expired(ctx: Context, row: ProposalRow) -> None:
    if row.expiry is not None and row.expiry <= ctx.now_us:
        raise ProposalExpired(
            f"review: the proposal {row.id} expired at {iso(row.expiry)}; it can be rejected or commented on",
            details={"reason": "proposal_expired", "expiry": iso(row.expiry)},
        )


def _decided(ctx: Context, row: ProposalRow, args: models.ReviewArgs) -> ProposalRow:
    """The proposal after the decision, which is remembered; an approval is not yet applied."""
    decision = args.decision
    row = proposals.move(
        ctx.tx,
        row,
        status=_STATUS_AFTER.get(decision, row.status),
        last_decision=decision,
        review_count=row.review_count + 1,
        approve_count=row.approve_count + (decision == "approve"),
        reject_count=row.reject_count + (decision == "reject"),
        updated_at=ctx.now_us,
    )
    payload = {
        "proposal_id": row.id,
        "reviewer": ctx.caller.caller_label,
        "decision": decision,
        "comment": args.comment,
        "status": row.status,
    }
    ctx.emit_of(_aggregate(row.id), "proposal_reviewed", payload)
    return row


def _apply(ctx: Context, row: ProposalRow, answer: models.Reviewed) -> None:
    """Carry an approved change out and put what became of it into the answer."""
    system = replace(
        ctx,
        caller=ctx.caller.as_system(APPLIER),
        # Later than the decision, so that a list shows what happened in its order.
        now_us=max(now_us(), ctx.now_us + 1),
        audit={},
        beside=None,
        late_events=(),
        mentioned=(),
        forgotten=(),
    )
    applying = proposals.move(ctx.tx, row, status=APPLYING)
    done = _carried_out(system, proposed(ctx, row)["changeset"])
    if done.error is None:
        ctx.forget(*system.forgotten)
        answer["status"], answer["records"] = APPLIED, done.records
        if done.warnings:
            answer["warnings"] = done.warnings
    else:
        answer["status"], answer["apply_error"] = APPROVED, done.error
    error = None if done.error is None else dump(done.error)
    proposals.move(ctx.tx, applying, status=answer["status"], apply_error=error, updated_at=system.now_us)
    system.emit_of(
        _aggregate(row.id),
        "proposal_applied",
        {"proposal_id": row.id, "status": answer["status"], "records": done.records, "error": done.error},
        outcome="success" if done.error is None else "error",
        also=tuple(dict.fromkeys(done.records)),
    )


def _carried_out(system: Context, changeset: Changeset) -> Application:
    """Every step in its order, or none; the failure of a step undoes those before it."""
    done: list[Done] = []
    try:
        with savepoint(system.tx):
            for call in calls(system.ontology, changeset):
                done.append(carry_out(system, call))
    except HivekeepError as error:
        failure: models.ApplyError = {"step": len(done), "kind": error.kind, "message": error.message}
        if error.code:
            failure["code"] = error.code
        return Application([], [], failure)
    return Application([step.record_id for step in done], [warning for step in done for warning in step.warnings], None)
