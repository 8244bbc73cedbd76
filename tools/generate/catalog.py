"""The verb table: what dispatch needs, without prose."""

from __future__ import annotations

from typing import Any

from tools.generate.examples import possible_errors
from tools.generate.literal import Call, literal
from tools.generate.model import AnyOf, Contract, EnumUse, Expr, ListOf, Param, Scalar, Verb, Word


def catalog_values(contract: Contract) -> dict[str, Any]:
    """`verbs` and `packs` as source."""
    verbs = {verb.name: _verb_row(contract, verb) for verb in contract.verbs}
    packs = {
        pack.name: Call("Pack", (pack.name, pack.title, pack.order, pack.requires, pack.bare))
        for pack in contract.packs
    }
    return {"verbs": literal(verbs, 24), "packs": literal(packs, 24)}


def normaliser(word: Word) -> str | None:
    """What makes the canonical value: a name of types.yaml or `enum:<name>`; for a list, of its items.

    Values inside maps, shapes, lists of lists and unions of several normalisers are left to the verb.
    """
    expr = word.expr.item.expr if isinstance(word.expr, ListOf) else word.expr
    if isinstance(expr, AnyOf):
        names = {_normaliser(option.expr) for option in expr.options}
        return names.pop() if len(names) == 1 else None
    return _normaliser(expr)


def _normaliser(expr: Expr) -> str | None:
    if isinstance(expr, Scalar):
        return expr.normalise
    if isinstance(expr, EnumUse):
        return expr.enum.normalise or (f"enum:{expr.enum.name}" if expr.enum.aliases else None)
    return None


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
            ("wait", verb.wait),
            ("schedulable", verb.schedulable),
            ("bulk_atomic", verb.bulk_atomic),
            ("audit_cost", verb.audit_cost),
            ("embeds", verb.embeds),
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
