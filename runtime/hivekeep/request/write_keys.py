"""No two operations of a batch write the same record: they have no order, so the outcome would be chance.

Keys come from literal arguments only, as the contract of each verb declares them. Chains and single
operations run in order and are exempt.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hivekeep.request.faults import fault
from hivekeep.request.plan import Op, Plan
from hivekeep_contract.catalog import Verb, WriteKey
from hivekeep_contract.errors import ParseError
from hivekeep_contract.vocabulary import RELATIONS


class _Edge(NamedTuple):
    source: str
    target: str
    relation: str


class _Claim(NamedTuple):
    """What one operation of the batch writes, as the caller wrote it (`shown`), and the records it links."""

    key: str | _Edge
    ends: tuple[str, ...]
    shown: str
    op_index: int


def check_write_keys(
    plan: Plan, lookup: Callable[[str], Verb | None], canonical_relation: Callable[[str], str]
) -> None:
    """Refuse a batch in which two operations write one record or one edge, or one links what another
    writes.

    `lookup` gives the contract of a verb (None when unknown: such an operation writes nothing).
    `canonical_relation` gives the stored spelling of a relation, and the word itself when it is none.
    Raises ParseError of kind WriteKeyConflict naming the id and both verbs; nothing ran.
    """
    if plan.mode != "parallel" or len(plan.ops) < 2:
        return
    written: dict[str | _Edge, _Claim] = {}
    linked: dict[str | _Edge, _Claim] = {}
    for index, op in enumerate(plan.ops):
        verb = lookup(op.verb)
        for claim in _claims(verb, op, index, canonical_relation) if verb else ():
            rivals = [written.get(claim.key), linked.get(claim.key), *map(written.get, claim.ends)]
            for rival in rivals:
                if rival is not None and rival.op_index != index:
                    raise _conflict(plan, rival, claim)
            written.setdefault(claim.key, claim)
            for end in claim.ends:
                linked.setdefault(end, claim)


def _claims(verb: Verb, op: Op, index: int, canonical_relation: Callable[[str], str]) -> Iterator[_Claim]:
    for write in verb.write_keys:
        if write.unless is not None and op.args.get(write.unless) is True:
            continue
        for holder in _holders(write, op.args):
            texts = [text for names in write.params if (text := _text(holder, names)) is not None]
            if write.kind == "record":
                yield from (_Claim(_same_id(text), (), text, index) for text in texts)
            elif len(texts) == len(write.params):
                edge = _edge(texts, canonical_relation)
                yield _Claim(edge, edge[:2], " -> ".join(texts[:2]), index)


def _holders(write: WriteKey, args: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects that hold the key's parameters: the arguments, or the entries of a list parameter."""
    if write.each is None:
        return [args]
    entries = args.get(write.each)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _text(holder: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first literal string under a parameter's name or one of its aliases."""
    return next((holder[name] for name in names if isinstance(holder.get(name), str)), None)


def _same_id(text: str) -> str:
    return text.replace("-", "").lower()


def _edge(texts: list[str], canonical_relation: Callable[[str], str]) -> _Edge:
    source, target, spelled = _same_id(texts[0]), _same_id(texts[1]), texts[2]
    relation = canonical_relation(spelled)
    known = RELATIONS.get(relation)
    if known is not None and known.symmetric and target < source:
        source, target = target, source
    return _Edge(source, target, relation)


def _conflict(plan: Plan, first: _Claim, second: _Claim) -> ParseError:
    verbs = [plan.ops[claim.op_index].verb for claim in (first, second)]
    places = [claim.op_index + 1 for claim in (first, second)]
    shown = first.shown if isinstance(second.key, _Edge) else second.shown
    return fault(
        "WriteKeyConflict",
        None,
        f"operations {places[0]} ({verbs[0]}) and {places[1]} ({verbs[1]}) of one batch both write"
        f" {shown!r}, and a batch has no order; chain them with '|' or send two requests",
        id=shown,
        verbs=verbs,
    )
