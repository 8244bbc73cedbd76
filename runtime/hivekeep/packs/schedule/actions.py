"""The call that a scheduled event carries out.

Invariant: a text that is stored parses as one call of a public verb with literal arguments that the verb's contract
accepts. What only the store can tell (a record that is gone, a policy) is judged when it is carried out.
"""

from collections.abc import Mapping
from typing import Any

from hivekeep.packs.context import Context
from hivekeep.request import dsl
from hivekeep.request.plan import Op
from hivekeep_contract import vocabulary
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import InvalidInput, ParseError

NAMESPACE = "namespace"
_CREATE = "create"
_REQUIRED = {"entity": "name", "note": "content"}
"""What a record of a substrate cannot do without, beside its kind."""


def parse(text: str) -> Op:
    """The one call of an action; raises InvalidInput."""
    try:
        plan = dsl.parse(text)
    except ParseError as fault:
        raise InvalidInput(f"schedule.schedule: 'action' must be one call of the request language: {fault}") from None
    if len(plan.ops) != 1:
        raise InvalidInput(f"schedule.schedule: 'action' must be one call, not {len(plan.ops)}")
    return plan.ops[0]


def check(ctx: Context, text: str) -> None:
    """Refuse an action that could never be carried out; raises InvalidInput."""
    op = parse(text)
    verb = VERBS.get(op.verb)
    if verb is None or not ctx.loaded(verb.pack):
        raise InvalidInput(f"schedule.schedule: 'action' names {op.verb!r}, which no loaded pack has")
    if verb.internal:
        raise InvalidInput(f"schedule.schedule: 'action' names {op.verb!r}, which only other verbs call")
    if NAMESPACE in op.args:
        raise InvalidInput(
            f"schedule.schedule: the call of {op.verb} may not name a namespace;"
            f" it runs where it was scheduled ({ctx.namespace})"
        )
    ctx.check_call(op.verb, op.args)
    if op.verb == _CREATE:
        _check_records(ctx, op.args)


def _check_records(ctx: Context, args: Mapping[str, Any]) -> None:
    """create takes one record or many, and what each needs depends on its kind."""
    items = args.get("items")
    described = [("", args)] if items is None else [(f"items[{place}]: ", item) for place, item in enumerate(items)]
    for where, record in described:
        kind = record.get("kind")
        if not isinstance(kind, str):
            raise InvalidInput(f"schedule.schedule: the call of create lacks something: {where}'kind' is required")
        if NAMESPACE in record:
            raise InvalidInput(f"schedule.schedule: the call of create may not name a namespace: {where}'namespace'")
        substrate = ctx.ontology.kind(kind).substrate
        needed = _REQUIRED.get(substrate)
        if needed is not None and record.get(needed) is None and not _has_default(ctx, record, kind):
            raise InvalidInput(
                f"schedule.schedule: the call of create lacks something: {where}{needed!r} is required for"
                f" {'an' if substrate == 'entity' else 'a'} {substrate}"
            )


def _has_default(ctx: Context, record: Mapping[str, Any], kind: str) -> bool:
    """Whether the pack that owns a note kind makes the content of a note that is given none."""
    return kind in vocabulary.KIND_OWNERS and ctx.rules_of(kind).content(record.get("name")) is not None
