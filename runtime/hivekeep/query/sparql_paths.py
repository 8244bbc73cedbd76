"""Property paths: which edges a repeated path follows.

Invariant: the walks of the answer are exactly those of the path; a path whose walks the plan cannot say is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from hivekeep.query import sparql_ast as ast
from hivekeep.query.plan import Hop
from hivekeep.query.sparql_errors import invalid, unsupported
from hivekeep_contract.errors import InvalidQuery
from hivekeep_contract.limits import QUERY_HOPS_MAX

Chain = tuple[Hop, ...]
Direction = Literal["out", "in", "any"]
RelationOf = Callable[[ast.Path], str]

_HOPS_IN_A_STEP: Final = 64


class Walk(NamedTuple):
    """`least` to `most` steps, each along one of the chains; `most=None` has no end."""

    steps: tuple[Chain, ...]
    least: int
    most: int | None


def walk_of(path: ast.Repeat, relation_of: RelationOf) -> Walk:
    """What a repeated path means; `relation_of` gives the relation behind a name, or refuses it.

    Raises InvalidQuery for bounds that make no sense, Unsupported for what the plan cannot say.
    """
    _check_bounds(path)
    inner = path.path
    if isinstance(inner, ast.Repeat) and inner.most is None and path.least <= 1:
        # Repeating what has no end adds nothing but the shortest walk.
        within = walk_of(inner, relation_of)
        return within._replace(least=path.least * within.least)
    chains = list(_chains(inner, relation_of, endless=path.most is None))
    _check_size(chains)
    steps = _merged(chain for chain in chains if chain)
    return Walk(steps, 0 if () in chains else path.least, path.most)


def _check_bounds(path: ast.Repeat) -> None:
    if path.most is None or path.least <= path.most <= QUERY_HOPS_MAX:
        return
    raise invalid(
        f"{{{path.least},{path.most}}} repeats a path; accepted: {{least,most}} with least <= most <= {QUERY_HOPS_MAX}",
        path.at,
    )


def _chains(path: ast.Path, relation_of: RelationOf, *, endless: bool) -> list[Chain]:
    """The rows of edges that a path may be, the empty one included.

    With `endless` a repetition without end may stand for itself: what is around it repeats it anyway.
    """
    match path:
        case ast.Inverse():
            return [_reversed(chain) for chain in _chains(path.path, relation_of, endless=endless)]
        case ast.Alternative():
            arms = (_chains(part, relation_of, endless=endless) for part in path.parts)
            return list(itertools.chain.from_iterable(arms))
        case ast.Steps():
            return _in_a_row([_chains(part, relation_of, endless=False) for part in path.parts])
        case ast.Repeat():
            return _repeated(path, relation_of, endless=endless)
    return [(Hop((relation_of(path),)),)]


def _repeated(path: ast.Repeat, relation_of: RelationOf, *, endless: bool) -> list[Chain]:
    _check_bounds(path)
    once = list(_chains(path.path, relation_of, endless=endless and path.most is None))
    if path.most is None:
        if not endless:
            raise unsupported(
                "a repetition without end inside a longer step that is repeated is not supported; repeat one of them",
                path.at,
            )
        return once if path.least else [(), *once]
    return [chain for times in range(path.least, path.most + 1) for chain in _in_a_row([once] * times)]


def _in_a_row(parts: Sequence[Sequence[Chain]]) -> list[Chain]:
    rows: list[Chain] = [()]
    for part in parts:
        rows = [row + chain for row, chain in itertools.product(rows, part)]
        _check_size(rows)
    return rows


def _check_size(chains: Sequence[Chain]) -> None:
    if sum(map(len, chains)) > _HOPS_IN_A_STEP:
        raise InvalidQuery(
            f"query: a repeated path may name {_HOPS_IN_A_STEP} edges in all its alternatives, this is more"
        )


def _reversed(chain: Chain) -> Chain:
    return tuple(Hop(hop.relations, "out" if hop.direction == "in" else "in") for hop in reversed(chain))


def _merged(chains: Iterable[Chain]) -> tuple[Chain, ...]:
    """The same steps with one hop for all single edges of a direction, each chain once."""
    single: dict[Direction, dict[str, None]] = {}
    longer: dict[Chain, None] = {}
    for chain in chains:
        if len(chain) == 1:
            single.setdefault(chain[0].direction, {}).update(dict.fromkeys(chain[0].relations))
        else:
            longer[chain] = None
    hops = [(Hop(tuple(relations), direction),) for direction, relations in single.items()]
    return (*hops, *longer)
