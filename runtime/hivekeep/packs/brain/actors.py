"""Whose view a caller may read: its own, and that of actors whose name is among its visible namespaces.

Invariant: callers are compared by kind and id; that two labels look alike grants nothing.
"""

from typing import NamedTuple

from hivekeep.identity.caller import PRINCIPAL, RESERVED_PREFIXES
from hivekeep.packs.context import Context
from hivekeep_contract.errors import PermissionDenied


class Named(NamedTuple):
    """The actor that a text means."""

    kind: str
    id: str


def named(text: str) -> Named:
    """Who is meant: a reserved prefix is parsed once, anything else is the id of a principal."""
    for prefix in RESERVED_PREFIXES:
        if text.startswith(prefix):
            return Named(prefix.rstrip(":"), text.removeprefix(prefix))
    return Named(PRINCIPAL, text)


def check_events_of(ctx: Context, text: str) -> None:
    """Refuse the events of an actor that is neither the caller nor visible to it; raises PermissionDenied."""
    actor = named(text)
    wanted = actor.id if actor.kind == PRINCIPAL else text
    if actor != (ctx.caller.kind, ctx.caller.id) and wanted not in ctx.visible():
        raise _hidden(ctx, text, wanted)


def check_label(ctx: Context, label: str) -> None:
    """Refuse a label, as callers are shown, of an actor that is neither the caller nor visible to it.

    Raises PermissionDenied.
    """
    if label != ctx.caller.caller_label and label not in ctx.visible():
        raise _hidden(ctx, label, label)


def _hidden(ctx: Context, text: str, wanted: str) -> PermissionDenied:
    return PermissionDenied(
        f"{ctx.verb}: 'actor' {text!r} is somebody else, and {wanted!r} is not among your visible namespaces: "
        + ", ".join(ctx.visible())
    )
