"""feedback: a judgement of a record becomes an event and teaches the profile that served it.

Invariant: the claim of a scorer, the mass of the gate, the event, the history and the beliefs of the profile are
written in one transaction, or none of them is.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.brain.lifecycle import check_section, readable
from hivekeep.packs.context import Context
from hivekeep.storage import brain_states, serve_ledger
from hivekeep.storage.brain_states import Mass
from hivekeep.storage.event_counts import FEEDBACK
from hivekeep.storage.records import Located
from hivekeep.tuning import gating, profiles, resolution, states
from hivekeep.tuning.gating import Passage
from hivekeep.tuning.states import Lesson
from hivekeep_contract.errors import InvalidInput, NotFound
from hivekeep_contract.limits import (
    BUILTIN_CONSUMER_KIND,
    BUILTIN_PROFILE,
    FEEDBACK_ATTRIBUTED,
    FEEDBACK_IMPLICIT,
    FEEDBACK_WEIGHT,
    IMPLICIT_SWEEP,
)
from hivekeep_contract.models import brain as models
from hivekeep_contract.models.memory import FeedbackSignal, ServeAttribution

VERB = "brain.feedback"
UNATTRIBUTED = "unattributed"
JUDGED = ("entity", "note")


class Judgement(NamedTuple):
    """What a caller says of a record, and what it knows of who served it; `target` is an id or a prefix."""

    target: str
    signal: FeedbackSignal
    served_by: str | None
    attribution: ServeAttribution | None
    section_signals: Mapping[str, str]
    scorer_run_id: str | None
    serve_ledger_id: str | None

    @property
    def is_implicit(self) -> bool:
        """Whether the signal was concluded and not said."""
        return self.signal in FEEDBACK_IMPLICIT


class Credited(NamedTuple):
    """The profile that learns, None for none of them; `by_binding` says that the named one was not known."""

    profile_id: str | None
    by_binding: bool = False


def feedback(ctx: Context, args: models.FeedbackArgs) -> models.FeedbackAnswer:
    """What became of a judgement; raises InvalidInput, NotFound, Ambiguous, SecretDetected."""
    said = Judgement(
        target=args.target_id,
        signal=args.signal,
        served_by=args.served_by_profile_id,
        attribution=args.serve_attribution,
        section_signals=args.section_signals or {},
        scorer_run_id=args.scorer_run_id,
        serve_ledger_id=args.serve_ledger_id,
    )
    return judge(ctx, said, VERB)


def judge(ctx: Context, said: Judgement, origin: str) -> models.FeedbackAnswer:
    """Carry out a judgement that came through the verb `origin`; see `feedback` for what it raises."""
    _check(ctx, said)
    target = resolve(ctx.tx, said.target, Wanted("target_id", JUDGED, by_name=False), ctx.caller)
    ctx.touch(target.substrate, target.id)
    credited = _credited(ctx, said, target)
    if said.scorer_run_id is not None and said.serve_ledger_id is not None:
        if not serve_ledger.claim(ctx.tx, said.scorer_run_id, said.serve_ledger_id, ctx.now_us):
            return _deduped(ctx, said, target)
        serve_ledger.grade(ctx.tx, said.serve_ledger_id, said.signal, said.scorer_run_id, ctx.now_us)
    passage = _passage(ctx, said, target, credited)
    payload = _payload(said, credited, passage, origin)
    # The event is of this verb, whichever one the judgement came through.
    event_id = replace(ctx, verb=VERB).emit(FEEDBACK, target.substrate, target.id, payload)
    answer: models.FeedbackAnswer = {
        "emitted": True,
        "event_id": event_id,
        "verb": ctx.verb,
        "signal": said.signal,
        "target_id": target.id,
    }
    if credited.profile_id is not None:
        weight = FEEDBACK_WEIGHT[said.signal] if passage is None else passage.effective_weight
        lesson = Lesson(said.signal, weight, target.id, said.section_signals)
        history = {**payload, "event_id": event_id, "target_id": target.id, "weight": weight}
        states.teach(ctx.tx, ctx.namespace, credited.profile_id, lesson, history, ctx.now_us)
        answer["profile_id"] = credited.profile_id
    return answer


def _check(ctx: Context, said: Judgement) -> None:
    """Refuse what contradicts itself, before anything is read or written; raises InvalidInput, SecretDetected."""
    if said.attribution == UNATTRIBUTED and not said.is_implicit:
        raise InvalidInput(
            f"{ctx.verb}: an answer with serve_attribution='{UNATTRIBUTED}' takes only "
            f"{' and '.join(FEEDBACK_IMPLICIT)}; got {said.signal!r}"
        )
    if ctx.caller.unattributed and said.signal in FEEDBACK_ATTRIBUTED:
        raise InvalidInput(f"{ctx.verb}: {said.signal!r} needs a named caller; nobody was named")
    if said.serve_ledger_id is not None and not said.is_implicit:
        raise InvalidInput(
            f"{ctx.verb}: scorer_run_id and serve_ledger_id go with {' and '.join(FEEDBACK_IMPLICIT)}; "
            f"got {said.signal!r}"
        )
    for name in said.section_signals:
        check_section(ctx, name, f"section_signals.{name}")
    refuse_secrets((("feedback.served_by_profile_id", said.served_by), ("feedback.scorer_run_id", said.scorer_run_id)))


def _credited(ctx: Context, said: Judgement, target: Located) -> Credited:
    """The profile that a judgement is for; raises NotFound, InvalidInput for an archived or damaged one."""
    credited = _accounted(ctx, said, target) if said.serve_ledger_id is not None else _named_or_bound(ctx, said)
    if credited.profile_id is not None:
        row = profiles.existing(ctx.tx, ctx.verb, ctx.caller.namespace, credited.profile_id)
        if row.lifecycle == profiles.ARCHIVED:
            raise InvalidInput(f"{ctx.verb}: profile {row.profile_id!r} is archived and takes no feedback")
        readable(ctx, row.profile_id)
    return credited


def _accounted(ctx: Context, said: Judgement, target: Located) -> Credited:
    """The profile that a served row counts for; raises NotFound, InvalidInput for a row of something else."""
    assert said.serve_ledger_id is not None
    row = serve_ledger.get(ctx.tx, said.serve_ledger_id)
    if row is None:
        raise NotFound(
            f"serve_ledger_id: not found: {said.serve_ledger_id}",
            details={"param": "serve_ledger_id", "id": said.serve_ledger_id},
        )
    if (row.target_id, row.namespace) != (target.id, ctx.namespace):
        raise InvalidInput(
            f"{ctx.verb}: the row {said.serve_ledger_id} served {row.target_id} in namespace {row.namespace!r}, "
            f"not {target.id} in {ctx.namespace!r}"
        )
    return Credited(None if said.attribution == UNATTRIBUTED else row.accounting_profile_id)


def _named_or_bound(ctx: Context, said: Judgement) -> Credited:
    """The named profile, else the one bound to the caller, else the built-in one when none was named."""
    if said.attribution == UNATTRIBUTED:
        return Credited(None)
    home = ctx.caller.namespace
    if said.served_by is not None and profiles.find(ctx.tx, home, said.served_by) is not None:
        return Credited(said.served_by)
    actor = resolution.served_as(ctx.caller)
    bound = resolution.bound(ctx.tx, home, actor, ctx.namespace, BUILTIN_CONSUMER_KIND)
    if bound is not None:
        return Credited(bound.profile.profile_id, by_binding=said.served_by is not None)
    # An unknown name that no binding replaces is told as such where the profile is looked up.
    return Credited(said.served_by or BUILTIN_PROFILE)


def _passage(ctx: Context, said: Judgement, target: Located, credited: Credited) -> Passage | None:
    """What the gate lets through of an implicit signal; None for one that was said."""
    if not said.is_implicit:
        return None
    if credited.profile_id is None:
        return gating.SHUT
    place = (ctx.namespace, credited.profile_id, target.id)
    last = brain_states.mass(ctx.tx, *place) or Mass(0.0, ctx.now_us)
    before = gating.decayed(last.mass, ctx.now_us - last.updated_at)
    passage = gating.admit(before, FEEDBACK_WEIGHT[said.signal])
    brain_states.put_mass(ctx.tx, *place, Mass(passage.mass_after, max(ctx.now_us, last.updated_at)))
    brain_states.sweep_mass(ctx.tx, *place[:2], ctx.now_us - gating.KEPT_US, IMPLICIT_SWEEP)
    return passage


def _payload(said: Judgement, credited: Credited, passage: Passage | None, origin: str) -> dict[str, Any]:
    payload: dict[str, Any] = {"signal": said.signal, "originating_verb": origin}
    if credited.profile_id is not None:
        payload["profile_id"] = credited.profile_id
    if said.served_by is not None:
        payload["served_by_profile_id"] = credited.profile_id or said.served_by
    if credited.by_binding:
        payload["profile_resolution"] = "binding"
    if said.attribution is not None:
        payload["serve_attribution"] = said.attribution
    if said.section_signals:
        payload["section_signals"] = dict(said.section_signals)
    if said.serve_ledger_id is not None:
        payload |= {"scorer_run_id": said.scorer_run_id, "serve_ledger_id": said.serve_ledger_id}
    if passage is not None:
        payload["gate"] = {**passage._asdict(), "forced_zero_weight": credited.profile_id is None}
    return payload


def _deduped(ctx: Context, said: Judgement, target: Located) -> models.FeedbackAnswer:
    return {
        "emitted": False,
        "deduped": True,
        "verb": ctx.verb,
        "signal": said.signal,
        "target_id": target.id,
        "serve_ledger_id": cast("str", said.serve_ledger_id),
        "scorer_run_id": cast("str", said.scorer_run_id),
    }
