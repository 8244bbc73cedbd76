"""Which arguments belong to which kind of record.

Invariant: an argument of another substrate is refused by name, also when its value is null; it is never ignored.
"""

from collections.abc import Iterable
from functools import cache

from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import InvalidInput


@cache
def _scopes(verb: str) -> dict[str, tuple[str, ...]]:
    return {param.name: param.scope for param in VERBS[verb].params if param.scope}


@cache
def _foreign(verb: str, substrate: str) -> frozenset[str]:
    return frozenset(name for name, scope in _scopes(verb).items() if substrate not in scope)


@cache
def _fitting(verb: str, substrate: str) -> str:
    return ", ".join(param.name for param in VERBS[verb].params if not param.scope or substrate in param.scope)


def check_scope(verb: str, given: Iterable[str], substrate: str) -> None:
    """Refuse an argument that the contract gives to other substrates; raises InvalidInput with the valid ones."""
    foreign = _foreign(verb, substrate)
    if foreign.isdisjoint(given):
        return
    name = min(foreign.intersection(given))
    raise InvalidInput(
        f"{verb}: {name!r} is for {' and '.join(_scopes(verb)[name])} only, and this is about {a(substrate)}; "
        f"accepted here: {_fitting(verb, substrate)}"
    )


def a(noun: str) -> str:
    """`a note`, `an entity`."""
    return ("an " if noun[0] in "aeiou" else "a ") + noun
