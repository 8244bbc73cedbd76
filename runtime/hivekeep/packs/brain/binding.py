"""bind, unbind, bindings, resolve: which profile serves whom."""

from typing import cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.packs.brain.actors import check_label
from hivekeep.packs.brain.consumers import consumer_kinds
from hivekeep.packs.context import Context
from hivekeep.storage import brain_profiles
from hivekeep.storage.brain_profiles import BindingFilter, BindingRow
from hivekeep.times import iso
from hivekeep.tuning import profiles, resolution
from hivekeep_contract.errors import InvalidInput, NotFound
from hivekeep_contract.limits import PROFILE_WILDCARD
from hivekeep_contract.models import brain as models


def bind(ctx: Context, args: models.BindArgs) -> models.BindResult:
    """Let a profile serve; raises NotFound, InvalidInput, SecretDetected."""
    parts = {"actor": args.actor, "namespace": args.namespace, "consumer_kind": args.consumer_kind}
    refuse_secrets(tuple((f"binding.{name}", value) for name, value in parts.items()))
    for name, value in parts.items():
        if PROFILE_WILDCARD in value and value != PROFILE_WILDCARD:
            raise InvalidInput(
                f"{ctx.verb}: {name!r} must be one value, or {PROFILE_WILDCARD} alone for all; got {value!r}"
            )
    _check_consumer(ctx, args.consumer_kind)
    home = ctx.caller.namespace
    profile = profiles.existing(ctx.tx, ctx.verb, home, args.profile_id)
    if profile.lifecycle == profiles.ARCHIVED:
        raise InvalidInput(f"{ctx.verb}: profile {profile.profile_id!r} is archived and serves nobody")
    row = BindingRow(
        namespace=home,
        actor=args.actor,
        for_namespace=args.namespace,
        consumer_kind=args.consumer_kind,
        profile_id=profile.profile_id,
        priority=args.priority,
        created_at=ctx.now_us,
    )
    brain_profiles.bind(ctx.tx, row)
    return {
        "bound": True,
        "profile_id": row.profile_id,
        "actor": row.actor,
        "namespace": row.for_namespace,
        "consumer_kind": row.consumer_kind,
        "priority": row.priority,
    }


def unbind(ctx: Context, args: models.UnbindArgs) -> models.UnbindResult:
    """Remove the bindings that agree with every filter."""
    filters = BindingFilter(args.profile_id, args.actor, args.namespace, args.consumer_kind)
    removed = brain_profiles.unbind(ctx.tx, ctx.caller.namespace, filters)
    return {"removed": removed, "unbound": removed}


def bindings(ctx: Context, args: models.BindingsArgs) -> models.BindingsResult:
    """The bindings of exactly one actor; raises PermissionDenied for one that is not visible."""
    actor = args.actor
    if actor is None:
        actor = ctx.caller.caller_label
    elif actor != PROFILE_WILDCARD:
        check_label(ctx, actor)
    filters = BindingFilter(args.profile_id, actor, args.namespace, args.consumer_kind)
    rows = [_shown(row) for row in brain_profiles.bindings(ctx.tx, ctx.caller.namespace, filters)]
    return {"count": len(rows), "bindings": rows}


def resolve(ctx: Context, args: models.ResolveArgs) -> models.ResolveResult:
    """Which profile would serve; raises NotFound when none would, PermissionDenied for an actor that is not visible."""
    actor = args.actor
    if actor is None:
        actor = resolution.served_as(ctx.caller)
    else:
        check_label(ctx, actor)
    found = resolution.chosen(ctx.tx, ctx.caller.namespace, actor, args.namespace, args.consumer_kind)
    if found is None:
        raise NotFound(
            f"{ctx.verb}: no profile serves consumer_kind {args.consumer_kind!r}; bind one, "
            f"or ask for one of: {', '.join(consumer_kinds(ctx))}",
            details={"param": "consumer_kind", "id": args.consumer_kind},
        )
    matched = found.profile.consumer_kind if found.binding is None else found.binding.consumer_kind
    return {
        "resolved_profile_id": found.profile.profile_id,
        "lifecycle": cast("models.Lifecycle", found.profile.lifecycle),
        "requested_consumer_kind": args.consumer_kind,
        "matched_consumer_kind": matched,
        "matched_binding": found.binding is not None,
    }


def _check_consumer(ctx: Context, kind: str) -> None:
    accepted = (PROFILE_WILDCARD, *consumer_kinds(ctx))
    if kind not in accepted:
        raise InvalidInput(f"{ctx.verb}: unknown consumer_kind {kind!r}; accepted: {', '.join(accepted)}")


def _shown(row: BindingRow) -> models.Binding:
    return {
        "profile_id": row.profile_id,
        "actor": row.actor,
        "namespace": row.for_namespace,
        "consumer_kind": row.consumer_kind,
        "priority": row.priority,
        "created_at": iso(row.created_at),
    }
