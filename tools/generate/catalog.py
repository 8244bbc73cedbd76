"""The verb table: what dispatch needs, without prose."""

from __future__ import annotations

from typing import Any

from tools.generate.examples import possible_errors
from tools.generate.literal import Call, literal
from tools.generate.model import AnyOf, Contract, EnumUse, ListOf, MapOf, Param, Scalar, Verb, Word


def catalog_values(contract: Contract) -> dict[str, Any]:
    """`verbs` and `packs` as source."""
    verbs = {verb.name: _verb_row(contract, verb) for verb in contract.verbs}
    packs = {
        pack.name: Call("Pack", (pack.name, pack.title, pack.order, pack.requires, pack.bare))
        for pack in contract.packs
    }
    return {"verbs": literal(verbs, 24), "packs": literal(packs, 24)}


def normaliser(word: Word) -> str | None:
    """What makes the canonical value: a name of types.yaml, or `enum:<name>`; for a list, of its items."""
    expr = word.expr
    if isinstance(expr, Scalar):
        return expr.normalise
    if isinstance(expr, EnumUse):
        if expr.enum.normalise:
            return expr.enum.normalise
        return f"enum:{expr.enum.name}" if expr.enum.aliases else None
    if isinstance(expr, (ListOf, MapOf)):
        return normaliser(expr.item if isinstance(expr, ListOf) else expr.value)
    if isinstance(expr, AnyOf):
        names = {name for option in expr.options if (name := normaliser(option))}
        return names.pop() if len(names) == 1 else None
    return None


def routes(contract: Contract) -> tuple[tuple[str, str], ...]:
    """Path and verb of each verb that clients may call."""
    return tuple((f"/api/v1/verbs/{verb.name}", verb.name) for verb in contract.verbs if not verb.internal)


def _verb_row(contract: Contract, verb: Verb) -> Call:
    keys = tuple(Call("WriteKey", (key.kind, key.params, key.each, key.unless)) for key in verb.writes)
    return Call(
        "Verb",
        (),
        (
            ("name", verb.name),
            ("pack", verb.pack),
            ("method", verb.method),
            ("category", verb.category),
            ("tx", verb.tx),
            ("cost", verb.cost),
            ("resource", verb.resource),
            ("action", verb.action),
            ("presentation", verb.presentation),
            ("params", tuple(_param_row(param) for param in verb.params)),
            ("write_keys", keys),
            ("internal", verb.internal),
            ("schedulable", verb.schedulable),
            ("bulk_atomic", verb.bulk_atomic),
            ("audit_cost", verb.audit_cost),
            ("errors", tuple(possible_errors(verb, contract.errors))),
        ),
    )


def _param_row(param: Param) -> Call:
    return Call(
        "Param",
        (
            param.name,
            param.required,
            param.word.nullable,
            param.default,
            param.has_default,
            param.aliases,
            normaliser(param.word),
            isinstance(param.word.expr, ListOf),
            param.scope,
            param.attr,
        ),
    )
