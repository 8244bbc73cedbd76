"""profiles, profile, create_profile, activate, deactivate, archive, reset: the life of a profile."""

import re
from typing import cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.packs.brain.consumers import consumer_kinds
from hivekeep.packs.context import MAIN, Context
from hivekeep.storage import brain_profiles, brain_states
from hivekeep.storage.brain_profiles import ProfileRow
from hivekeep.storage.brain_states import SectionRow, StateRow
from hivekeep.times import iso, iso_or_none
from hivekeep.tuning import passive, sections, states
from hivekeep.tuning import profiles as tuned
from hivekeep.tuning.beliefs import RELEVANCE, SALIENCE, TEMPORAL, Belief
from hivekeep_contract.errors import InvalidInput, ProfileExists
from hivekeep_contract.limits import (
    BUILTIN_CONSUMER_KIND,
    PROFILE_STATE_CLASS,
    PROFILE_TARGETS_SHOWN,
)
from hivekeep_contract.models import brain as models

_NAME = re.compile(r"[A-Za-z0-9-]+\Z")


def profiles(ctx: Context, args: models.ProfilesArgs) -> models.ProfilesResult:
    """The profiles of the caller's namespace, by name."""
    rows = [
        _row(ctx, row) for row in tuned.known(ctx.tx, ctx.caller.namespace) if args.lifecycle in (None, row.lifecycle)
    ]
    return {"count": len(rows), "profiles": rows}


def profile(ctx: Context, args: models.ProfileArgs) -> models.ProfileRecord:
    """One profile with what it has learned; raises NotFound."""
    home = ctx.caller.namespace
    row = tuned.existing(ctx.tx, ctx.verb, home, args.profile_id)
    state = readable(ctx, row.profile_id)
    believed = states.section_rows(ctx.tx, ctx.namespace, row.profile_id, home)
    return {
        **_row(ctx, row),
        "state_snapshot": _snapshot(ctx, state),
        "section_posteriors": _sections(believed) if believed else None,
    }


def create_profile(ctx: Context, args: models.CreateProfileArgs) -> models.CreateProfileResult:
    """A new profile, active at once; raises InvalidInput, ProfileExists, SecretDetected."""
    if not _NAME.match(args.name):
        raise InvalidInput(f"{ctx.verb}: 'name' must be letters, digits and hyphens; got {args.name!r}")
    refuse_secrets((("profile.name", args.name), ("profile.description", args.description)))
    accepted = tuple(dict.fromkeys((BUILTIN_CONSUMER_KIND, *consumer_kinds(ctx))))
    if args.consumer_kind not in accepted:
        raise InvalidInput(f"{ctx.verb}: unknown consumer_kind {args.consumer_kind!r}; accepted: {', '.join(accepted)}")
    seeds = _seeds(ctx, args)
    home = ctx.caller.namespace
    if tuned.find(ctx.tx, home, args.name) is not None:
        raise ProfileExists(
            f"{ctx.verb}: there is a profile {args.name!r} in namespace {home!r} already",
            details={"reason": "profile_exists", "profile_id": args.name},
        )
    row = ProfileRow(
        namespace=home,
        profile_id=args.name,
        description=args.description,
        consumer_kind=args.consumer_kind,
        state_class=PROFILE_STATE_CLASS,
        lifecycle=tuned.ACTIVE,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    brain_profiles.put(ctx.tx, row)
    if seeds is not None:
        brain_states.put_sections(ctx.tx, home, args.name, sections.seeded_rows(seeds))
    return {
        "created": True,
        "profile_id": row.profile_id,
        "consumer_kind": row.consumer_kind,
        "lifecycle": _lifecycle(row),
    }


def activate(ctx: Context, args: models.ActivateArgs) -> models.LifecycleStep:
    """The profile serves and learns; raises NotFound, InvalidInput for an archived one."""
    return _move(ctx, args.profile_id, tuned.ACTIVE, {tuned.ACTIVE, tuned.INACTIVE})


def deactivate(ctx: Context, args: models.DeactivateArgs) -> models.LifecycleStep:
    """The profile is set aside; raises NotFound, InvalidInput for an archived one."""
    return _move(ctx, args.profile_id, tuned.INACTIVE, {tuned.ACTIVE, tuned.INACTIVE})


def archive(ctx: Context, args: models.ArchiveArgs) -> models.LifecycleStep:
    """The profile is kept for reading only; raises NotFound, InvalidInput for any but an inactive one."""
    return _move(ctx, args.profile_id, tuned.ARCHIVED, {tuned.INACTIVE})


def reset(ctx: Context, args: models.ResetArgs) -> models.ResetResult:
    """The profile believes its priors again; raises NotFound, InvalidInput for one that is not active."""
    row = tuned.existing(ctx.tx, ctx.verb, ctx.caller.namespace, args.profile_id)
    if row.lifecycle != tuned.ACTIVE:
        raise InvalidInput(f"{ctx.verb}: profile {row.profile_id!r} is {row.lifecycle}; only an active one is reset")
    state = states.reset(ctx.tx, ctx.namespace, row.profile_id, ctx.now_us)
    passive.of(ctx.engines[MAIN]).forget(ctx.namespace, row.profile_id)
    return {"reset": True, "profile_id": row.profile_id, "exploration_epoch": state.exploration_epoch}


def readable(ctx: Context, profile_id: str) -> StateRow:
    """What a profile believes where the call works; raises InvalidInput for a damaged state."""
    try:
        return states.read(ctx.tx, ctx.namespace, profile_id)
    except states.Unreadable as fault:
        raise InvalidInput(f"{ctx.verb}: {fault}; brain.reset returns it to its priors") from None


def _move(ctx: Context, profile_id: str, to: str, allowed: set[str]) -> models.LifecycleStep:
    row = tuned.existing(ctx.tx, ctx.verb, ctx.caller.namespace, profile_id)
    if row.lifecycle not in allowed:
        raise InvalidInput(f"{ctx.verb}: profile {profile_id!r} is {row.lifecycle}; {_advice(row.lifecycle)}")
    if row.lifecycle != to:
        row = row._replace(lifecycle=to, updated_at=ctx.now_us)
        brain_profiles.put(ctx.tx, row)
    return {"profile_id": row.profile_id, "lifecycle": _lifecycle(row)}


def _advice(lifecycle: str) -> str:
    return "an archived profile never changes" if lifecycle == tuned.ARCHIVED else "deactivate it first"


def _seeds(ctx: Context, args: models.CreateProfileArgs) -> dict[str, Belief] | None:
    """The beliefs that a seed gives to sections; None without a seed. Raises InvalidInput."""
    if args.seed_priors is None:
        return None
    seeds = {}
    for name, values in args.seed_priors["section_posteriors"].items():
        where = f"seed_priors.section_posteriors.{name}"
        check_section(ctx, name, where)
        belief = Belief(float(values["alpha"]), float(values["beta"]))
        if not belief.is_sound:
            raise InvalidInput(f"{ctx.verb}: '{where}' must have an alpha and a beta above 0 whose sum is finite")
        seeds[name] = belief
    return seeds


def check_section(ctx: Context, name: str, where: str) -> None:
    """Refuse a section that nobody knows; raises InvalidInput that lists them."""
    if name not in sections.SECTIONS:
        raise InvalidInput(f"{ctx.verb}: '{where}': unknown section {name!r}; accepted: {', '.join(sections.SECTIONS)}")


def _row(ctx: Context, row: ProfileRow) -> models.ProfileRow:
    learned = brain_states.get(ctx.tx, ctx.namespace, row.profile_id)
    return {
        "id": row.profile_id,
        "description": row.description,
        "consumer_kind": row.consumer_kind,
        "state_class": row.state_class,
        "lifecycle": _lifecycle(row),
        "created_at": iso_or_none(row.created_at),
        "total_events": 0 if learned is None else learned.total_events,
        "exploration_epoch": 0 if learned is None else learned.exploration_epoch,
    }


def _lifecycle(row: ProfileRow) -> models.Lifecycle:
    return cast("models.Lifecycle", row.lifecycle)


def _snapshot(ctx: Context, state: StateRow) -> models.ProfileState:
    newest = brain_states.newest_targets(ctx.tx, state.namespace, state.profile_id, PROFILE_TARGETS_SHOWN)
    return {
        "relevance": _belief(states.relevance(state)),
        "salience": _belief(states.salience(state)),
        "temporal": _belief(states.temporal(state)),
        "entity_posteriors": [{"target_id": row.target_id, **_belief(Belief(row.alpha, row.beta))} for row in newest],
        "entity_count": state.target_count,
        "total_events": state.total_events,
        "exploration_epoch": state.exploration_epoch,
        "observed": _observed(ctx, state),
        "updated_at": iso(state.updated_at) if state.updated_at else None,
    }


def _observed(ctx: Context, state: StateRow) -> models.Observed:
    """What this process saw, joined to what the profile learned."""
    seen = passive.of(ctx.engines[MAIN]).seen(state.namespace, state.profile_id)
    return {
        "relevance": _belief(states.relevance(state).joined(seen.relevance, RELEVANCE)),
        "salience": _belief(states.salience(state).joined(seen.salience, SALIENCE)),
        "temporal": _belief(states.temporal(state).joined(seen.temporal, TEMPORAL)),
        "entity_count": len(seen.targets),
        "total_events": seen.total_events,
    }


def _belief(belief: Belief) -> models.Belief:
    return {
        "alpha": belief.alpha,
        "beta": belief.beta,
        "mean": belief.mean,
        "variance": belief.variance,
        "ess": belief.evidence,
    }


def _sections(rows: list[SectionRow]) -> dict[str, models.SectionBelief]:
    parts = sections.weights(rows)
    return {row.section: {**_belief(Belief(row.alpha, row.beta)), "weight": parts[row.section]} for row in rows}
