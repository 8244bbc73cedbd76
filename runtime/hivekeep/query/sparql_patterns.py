"""The patterns of SPARQL as groups of the plan.

Invariant: a variable is a record or a value in the whole query, never both. Each group has the solutions that its
braces have in SPARQL, whatever stands around it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hivekeep.query import plan
from hivekeep.query import sparql_ast as ast
from hivekeep.query.bindings import surely_binds
from hivekeep.query.fields import COLUMNS, node_of_label
from hivekeep.query.sparql_errors import invalid, unsupported
from hivekeep.query.sparql_expressions import Scope, Sort, condition, named
from hivekeep.query.sparql_names import KIND, Names
from hivekeep.query.sparql_paths import walk_of
from hivekeep_contract.vocabulary import EVENT_ROLES, RELATIONS

_OBSERVED: Final = {f"observed_as_{role}": role for role in EVENT_ROLES}
_DESCRIBED: Final[tuple[plan.Substrate, ...]] = ("entity", "note")
"""What a record is that nothing but its fields is known of."""
_EXACT: Final = frozenset({"id", "kind", "entity_type"})
_NO_PREDICATES: Final = {
    "properties": "a property stands under its own name",
    "namespace": "a query ranges over the namespaces that you see",
}
_NO_NAMES: Final[frozenset[str]] = frozenset()


@dataclass(slots=True)
class _Group:
    """A group under way: its parts, the variables of the text it binds, and the records its triples fix."""

    outer: frozenset[str]
    parts: list[plan.Part] = field(default_factory=list)
    bound: dict[str, None] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Block:
    """Triples that stand together. `open` are the records that still need a `Node` to say where they come from."""

    joins: list[plan.Part] = field(default_factory=list)
    facts: list[plan.Part] = field(default_factory=list)
    nodes: list[plan.Node] = field(default_factory=list)
    open: dict[str, None] = field(default_factory=dict)
    joined: set[str] = field(default_factory=set)
    wanted: dict[tuple[str, str], plan.Scalar] = field(default_factory=dict)


class Patterns:
    """Lowers the patterns of one query and remembers what its variables are."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.sorts: dict[str, Sort] = {}
        self._substrates: dict[str, tuple[plan.Substrate, ...]] = {}
        self._fresh = itertools.count(1)

    def whole(self, group: ast.Group) -> tuple[plan.Group, frozenset[str]]:
        """The pattern of the query, and the variables it binds."""
        return self._group(group, _NO_NAMES, _NO_NAMES)

    def scope(self, bound: frozenset[str]) -> Scope:
        """What an expression sees where these variables are bound."""
        return Scope(self.names, self.sorts, bound, self._exists)

    def _exists(self, group: ast.Group, outer: frozenset[str]) -> plan.Group:
        return self._group(group, outer, _NO_NAMES)[0]

    def _group(
        self, group: ast.Group, outer: frozenset[str], beside: frozenset[str]
    ) -> tuple[plan.Group, frozenset[str]]:
        """`outer` are variables whose values are put in from around an EXISTS, `beside` those an OPTIONAL adds to."""
        under_way = _Group(outer)
        filters = [element for element in group.elements if isinstance(element, ast.Filter)]
        others = [element for element in group.elements if not isinstance(element, ast.Filter)]
        for kind, run in itertools.groupby(others, type):
            if kind is ast.Triple:
                triples = [each for each in run if isinstance(each, ast.Triple)]
                self._set_apart(triples, under_way)
                self._triples(triples, under_way)
            else:
                for element in run:
                    self._nested(element, under_way)
        bound = frozenset(under_way.bound)
        scope = self.scope(bound | outer | beside)
        under_way.parts += [plan.Filter(condition(each.condition, scope)) for each in filters]
        return plan.Group(tuple(under_way.parts)), bound

    def _nested(self, element: ast.Element, group: _Group) -> None:
        if isinstance(element, ast.Optional):
            beside = frozenset(group.bound)
            known = dict(self._substrates)
            inner, bound = self._group(element.group, group.outer, beside)
            match inner.parts:
                # A lone field of a record at hand: saying again where the record comes from would cost a scan.
                case (plan.Node() as node, plan.Bind() as bind) if _is_known(node, group, known):
                    inner = plan.Group((bind,))
            group.parts.append(plan.Optional(inner))
            group.bound.update(dict.fromkeys(sorted(bound)))
        elif isinstance(element, ast.Branches):
            self._set_apart([element], group)
            arms = [self._group(each, group.outer, _NO_NAMES) for each in element.groups]
            self._branches(arms, group)

    def _set_apart(self, following: Sequence[ast.Element], group: _Group) -> None:
        """Close what stands before when it may leave open a variable that what follows an OPTIONAL binds.

        The plan joins a group in any order and adds its optional parts last; SPARQL goes from the first to the last.
        """
        if not any(isinstance(part, plan.Optional) for part in group.parts):
            return
        sure = {name for part in group.parts for name in surely_binds(part)}
        if {name for element in following for name in _variables(element)} & (group.bound.keys() - sure):
            group.parts = [plan.Union((plan.Group(tuple(group.parts)),))]
            group.fixed.clear()
            group.constants.clear()

    def _branches(self, arms: Sequence[tuple[plan.Group, frozenset[str]]], group: _Group) -> None:
        group.parts.append(plan.Union(tuple(arm for arm, _ in arms)))
        group.bound.update(dict.fromkeys(sorted(frozenset().union(*(bound for _, bound in arms)))))

    # triples

    def _triples(self, triples: Iterable[ast.Triple], group: _Group) -> None:
        """Kinds first: they say which records have a field of a name."""
        block = _Block()
        for triple in sorted(triples, key=lambda each: not self._is_kind(each)):
            self._triple(triple.subject, triple.path, triple.object, block, group)
        self._close(block, group)

    def _is_kind(self, triple: ast.Triple) -> bool:
        return (
            isinstance(triple.path, ast.Iri | ast.Kind)
            and not isinstance(triple.object, ast.Var)
            and self.names.predicate(triple.path) == KIND
        )

    def _close(self, block: _Block, group: _Group) -> None:
        for var in block.open:
            if var not in block.joined and var not in group.fixed:
                block.nodes.append(plan.Node(var, self._substrates.get(var, _DESCRIBED)))
        group.fixed.update(block.open, block.joined)
        group.parts += [*block.nodes, *block.joins, *block.facts]

    def _triple(self, subject: ast.Term, path: ast.Path, value: ast.Term, block: _Block, group: _Group) -> None:
        match path:
            case ast.Inverse():
                self._triple(value, path.path, subject, block, group)
            case ast.Steps():
                between = [ast.Var(f".{next(self._fresh)}", _place(part)) for part in path.parts[1:]]
                for start, part, end in zip([subject, *between], path.parts, [*between, value], strict=True):
                    self._triple(start, part, end, block, group)
            case ast.Alternative():
                self._alternative(subject, path, value, block, group)
            case ast.Repeat():
                self._walk(subject, path, value, block, group)
            case ast.Iri() | ast.Kind():
                self._predicate(subject, path, value, block, group)

    def _alternative(
        self, subject: ast.Term, path: ast.Alternative, value: ast.Term, block: _Block, group: _Group
    ) -> None:
        relations = [self.names.predicate(part) for part in path.parts if isinstance(part, ast.Iri | ast.Kind)]
        if len(set(relations)) == len(path.parts) and all(name in RELATIONS for name in relations):
            self._edge(subject, tuple(relations), value, block, group)
            return
        arms = []
        for part in path.parts:
            arm, inner = _Group(group.outer), _Block()
            self._triple(subject, part, value, inner, arm)
            self._close(inner, arm)
            arms.append((plan.Group(tuple(arm.parts)), frozenset(arm.bound)))
        block.joins.append(plan.Union(tuple(arm for arm, _ in arms)))
        for _, bound in arms:
            group.bound.update(dict.fromkeys(sorted(bound)))

    def _walk(self, subject: ast.Term, path: ast.Repeat, value: ast.Term, block: _Block, group: _Group) -> None:
        walk = walk_of(path, self._repeated_relation)
        source, target = self._record(subject, block, group), self._record(value, block, group)
        block.joins.append(plan.Path(source, target, walk.steps, walk.least, walk.most))
        # A path of no edges joins any record to itself, so it does not say where its start comes from.
        block.joined.update({target} if walk.least == 0 else {source, target})

    def _predicate(
        self, subject: ast.Term, path: ast.Iri | ast.Kind, value: ast.Term, block: _Block, group: _Group
    ) -> None:
        name = self.names.predicate(path)
        if name in RELATIONS:
            self._edge(subject, (name,), value, block, group)
        elif name in _OBSERVED:
            ends = self._record(subject, block, group), self._record(value, block, group)
            block.joins.append(plan.Observed(*ends, (_OBSERVED[name],)))
            block.joined.update(ends)
        elif name in _NO_PREDICATES:
            raise unsupported(f"{name} as predicate is not supported; {_NO_PREDICATES[name]}", path.at)
        elif isinstance(value, ast.Var):
            self._bind(self._record(subject, block, group), name, value, block, group)
        else:
            self._require(self._record(subject, block, group), name, value, block)

    def _edge(
        self, subject: ast.Term, relations: tuple[str, ...], value: ast.Term, block: _Block, group: _Group
    ) -> None:
        ends = self._record(subject, block, group), self._record(value, block, group)
        block.joins.append(plan.Edge(*ends, relations))
        block.joined.update(ends)

    def _repeated_relation(self, path: ast.Path) -> str:
        """The relation that a repeated path follows."""
        assert isinstance(path, ast.Iri | ast.Kind)
        name = self.names.predicate(path)
        if name not in RELATIONS:
            raise invalid(f"{name} cannot be repeated; accepted: {', '.join(RELATIONS)}", path.at)
        return name

    # fields

    def _bind(self, var: str, name: str, value: ast.Var, block: _Block, group: _Group) -> None:
        self._sort(value, "value")
        block.facts.append(plan.Bind(value.name, self._field(var, name)))
        group.bound[value.name] = None

    def _require(self, var: str, name: str, value: ast.Iri | ast.Constant, block: _Block) -> None:
        wanted = self.names.of(value) if isinstance(value, ast.Iri) else value.value
        if name == KIND:
            self._label(var, wanted, value.at, block)
            return
        self._check_agreement(var, name, wanted, value.at, block)
        block.facts.append(
            plan.Filter(plan.Compare("=", self._field(var, name), plan.Const(wanted), exact=name in _EXACT))
        )

    def _label(self, var: str, word: plan.Scalar, at: int, block: _Block) -> None:
        if not isinstance(word, str):
            raise invalid(f"a kind is a name such as :concept, not {word}", at)
        node = node_of_label(var, word)
        if node.kind is not None:
            self._check_agreement(var, KIND, node.kind, at, block)
        block.nodes.append(node)
        block.joined.add(var)
        known = self._substrates.get(var, node.substrates)
        self._substrates[var] = tuple(name for name in node.substrates if name in known) or node.substrates

    def _field(self, var: str, name: str) -> plan.Field:
        """A field where the record may have one of this name, else the property."""
        substrates = self._substrates.get(var, _DESCRIBED)
        if any(name in COLUMNS[substrate] for substrate in substrates):
            return plan.Field(var, name)
        return plan.Field(var, "properties", (name,))

    def _check_agreement(self, var: str, name: str, wanted: plan.Scalar, at: int, block: _Block) -> None:
        """Two different texts for one field of one record can never hold together."""
        known = block.wanted.setdefault((var, name), wanted)
        if str(known).lower() != str(wanted).lower():
            raise invalid(f"{name} is {known!r} and {wanted!r} of the same record; give one of them", at)

    # records

    def _record(self, term: ast.Term, block: _Block, group: _Group) -> str:
        """The record variable behind a term; a name gets one of its own in each group."""
        if isinstance(term, ast.Constant):
            raise invalid(
                f"{term.value!r} stands where a record is wanted; accepted: a variable or a name such as :Name", term.at
            )
        if isinstance(term, ast.Var):
            self._sort(term, "record")
            block.open[term.name] = None
            group.bound[term.name] = None
            return term.name
        return self._constant(self.names.of(term), block, group)

    def _constant(self, name: str, block: _Block, group: _Group) -> str:
        if name not in group.constants:
            var = group.constants[name] = f".{next(self._fresh)}"
            block.nodes.append(plan.Node(var, ("entity",)))
            block.facts.append(plan.Filter(named(var, name)))
            block.joined.add(var)
        return group.constants[name]

    def _sort(self, var: ast.Var, sort: Sort) -> None:
        if self.sorts.setdefault(var.name, sort) == sort:
            return
        if var.name.startswith("."):
            raise invalid("a path does not go on behind a field, because that is no record", var.at)
        raise unsupported(
            f"?{var.name} is a record in one place and a value in another, so nothing can match; use two variables",
            var.at,
        )


def _place(path: ast.Path) -> int:
    """Where a path begins in the text."""
    match path:
        case ast.Steps() | ast.Alternative():
            return _place(path.parts[0])
        case ast.Inverse() | ast.Repeat():
            return _place(path.path)
    return path.at


def _variables(element: ast.Element) -> set[str]:
    """The variables that an element binds."""
    match element:
        case ast.Triple():
            return {term.name for term in (element.subject, element.object) if isinstance(term, ast.Var)}
        case ast.Optional():
            return _of_group(element.group)
        case ast.Branches():
            return {name for group in element.groups for name in _of_group(group)}
        case ast.Filter():
            return set()


def _of_group(group: ast.Group) -> set[str]:
    return {name for element in group.elements for name in _variables(element)}


def _is_known(node: plan.Node, group: _Group, known: dict[str, tuple[plan.Substrate, ...]]) -> bool:
    """Whether a node adds nothing to what the group says of its variable."""
    return node.var in group.fixed and node.kind is None and node.substrates == known.get(node.var, _DESCRIBED)
