"""GQL: a text of the dialect as a logical plan.

The grammar is in `gql.lark`; lark is imported at the first query. Invariant: every name in the plan is bound by the
pattern, every relation exists, and every choice that the text leaves open (order, names of columns) is made here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from hivekeep.query import dialect
from hivekeep.query.fields import EDGE_ALIASES, EDGE_FIELDS, EDGE_SHOWN, NODE_FIELDS, NODE_SHOWN, RECORDS, node_of_label
from hivekeep.query.plan import (
    And,
    Compare,
    Condition,
    Const,
    Count,
    Edge,
    Expression,
    Field,
    Filter,
    Group,
    Hop,
    InList,
    IsNull,
    Node,
    Not,
    Observed,
    Operand,
    Or,
    OrderKey,
    Output,
    Part,
    Path,
    PathMeasure,
    Plan,
    Scalar,
    TextTest,
)
from hivekeep_contract.limits import QUERY_HOPS_DEFAULT, QUERY_HOPS_MAX, QUERY_MAX_NESTING
from hivekeep_contract.vocabulary import EVENT_ROLES, RELATIONS

if TYPE_CHECKING:
    from lark import Lark

_OBSERVED: Final = "observed_as_"
_OBSERVATIONS: Final = tuple(_OBSERVED + role for role in EVENT_ROLES)
_I64: Final = 2**63
_OF_ENTITIES: Final = frozenset({"id", "kind", "entity_type", "name", "description", "created_at", "updated_at"})

_INSTEAD: Final = {
    ",": "MATCH takes one path; repeat a variable to join at it, or run two queries",
    "OFFSET": "use SKIP",
    "WITH": "a query is one MATCH and one RETURN",
    "UNION": "run two queries",
    "UNWIND": "write the values as IN [...]",
    "OPTIONAL": "SPARQL has OPTIONAL",
    "MATCH": "a query is one MATCH and one RETURN",
    "CALL": "a query is one MATCH and one RETURN",
    "XOR": "use AND, OR and NOT",
    "EXISTS": "SPARQL has EXISTS",
    "CASE": "values are shown as they are stored",
    "NULL": "use IS NULL or IS NOT NULL",
    "$": "write the value into the query as a literal",
    "*": "name the variables to return, or count(*)",
    "=~": "use LIKE, CONTAINS, STARTS WITH or ENDS WITH",
    "+": "values are shown as they are stored",
}
"""What a word of larger dialects is answered with."""
_FUNCTION: Final = "the only function is count(*) or count([DISTINCT] field), in RETURN and ORDER BY"
_TOKENS: Final = {
    "NAME": "a name",
    "STRING": "a string in quotes",
    "INT": "a whole number",
    "NEGATIVE": "a negative number",
    "FLOAT": "a decimal number",
    "COMPARE": "a comparison",
    "STAR": "*",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "LSQB": "[",
    "RSQB": "]",
    "COLON": ":",
    "COMMA": ",",
    "SEMICOLON": ";",
    "DOT": ".",
    "VBAR": "|",
    "_OPEN": "-[",
    "_OPEN_IN": "<-[",
    "_CLOSE": "]-",
    "_CLOSE_OUT": "]->",
    "_BARE_OUT": "-->",
    "_BARE_IN": "<--",
    "_BARE_ANY": "--",
    "_DOTS": "..",
    "ASCENDING": "ASC",
    "DESCENDING": "DESC",
    "$END": "the end",
}


class _Name(NamedTuple):
    """A dotted name, and where it stands."""

    words: tuple[str, ...]
    at: int


class _Counted(NamedTuple):
    """count(...)."""

    of: _Name | None
    distinct: bool
    at: int


class _NodeText(NamedTuple):
    var: str | None
    label: str | None
    map: tuple[tuple[str, int, Scalar], ...]
    at: int


class _Hops(NamedTuple):
    least: int
    most: int


class _Body(NamedTuple):
    var: str | None
    relations: tuple[tuple[str, int], ...]
    hops: _Hops | None
    at: int


class _EdgeText(NamedTuple):
    body: _Body
    direction: str


class _Item(NamedTuple):
    shown: _Name | _Counted
    alias: str | None
    at: int


class _Query(NamedTuple):
    """A whole text, as it is written."""

    nodes: tuple[_NodeText, ...]
    edges: tuple[_EdgeText, ...]
    where: Any
    distinct: bool
    items: tuple[_Item, ...]
    order: tuple[tuple[_Name | _Counted, bool], ...]
    skip: int
    limit: int | None


def parse(text: str) -> Plan:
    """The plan of a GQL text; raises InvalidQuery or Unsupported."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    try:
        tree = _parser().parse(text)
    except UnexpectedToken as fault:
        position = len(text) if fault.token.type == "$END" else fault.token.start_pos or 0
        _refuse_syntax(text, position, fault.accepts or fault.expected)
    except UnexpectedCharacters as fault:
        _refuse_syntax(text, fault.pos_in_stream or 0, fault.allowed or ())
    except UnexpectedInput:
        _refuse_syntax(text, len(text), ())
    return _Builder(text, _Reader(text).query(tree)).plan()


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = resources.files("hivekeep.query").joinpath("gql.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


def _refuse_syntax(text: str, position: int, expected: Sequence[str] | set[str]) -> NoReturn:
    dialect.refuse_write_words(text)
    before = text[:position].rstrip()
    last, here = _last_word(before), text[position : position + 1]
    if last and here in ("(", "{"):
        # What looked like a name begins something else.
        _refuse_foreign(text, last, position)
        if here == "(":
            dialect.refuse_word(text, f"{last}()", len(before) - len(last), _FUNCTION)
    for word in (dialect.word_at(text, position), text[max(position - 1, 0) : position + 1], here):
        _refuse_foreign(text, word, position)
    accepted = sorted({_TOKENS.get(name, name.strip("_")) for name in expected})
    dialect.refuse(text, position, f"accepted: {', '.join(accepted)}" if accepted else "the query is not complete")


def _refuse_foreign(text: str, word: str, position: int) -> None:
    """Raise Unsupported for a word of a larger dialect."""
    if word.upper() in _INSTEAD:
        dialect.refuse_word(text, word.upper(), position, _INSTEAD[word.upper()])


def _last_word(text: str) -> str:
    end = len(text)
    while end and (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return text[end:]


class _Reader:
    """From the syntax tree to the text's parts, with the checks that need no other part."""

    def __init__(self, text: str) -> None:
        self._text = text

    def query(self, tree: Any) -> _Query:
        """The whole text."""
        path, where, distinct, items, order, skip, limit = tree.children
        return _Query(
            nodes=tuple(self._node(child) for child in path.children[::2]),
            edges=tuple(self._edge(child) for child in path.children[1::2]),
            where=where,
            distinct=distinct is not None,
            items=tuple(self._item(child) for child in items.children),
            order=tuple(self._key(child) for child in order.children) if order else (),
            skip=self._integer(skip.children[0]) if skip else 0,
            limit=self._integer(limit.children[0]) if limit else None,
        )

    def literal(self, tree: Any) -> Scalar:
        """A literal."""
        if tree.data in ("true", "false"):
            return bool(tree.data == "true")
        token = tree.children[0]
        if tree.data == "string":
            return str(token)[1:-1]
        return self._integer(token) if tree.data == "integer" else self._decimal(token)

    def name(self, tree: Any) -> _Name:
        """A dotted name."""
        return _Name(tuple(str(word) for word in tree.children), tree.children[0].start_pos)

    def _node(self, tree: Any) -> _NodeText:
        var, label, given = tree.children
        pairs = [pair.children for pair in given.children if pair is not None] if given else []
        seen: set[str] = set()
        for key, _ in pairs:
            if str(key) in seen:
                dialect.refuse(self._text, key.start_pos, f"{str(key)!r} is given twice in one map")
            seen.add(str(key))
        return _NodeText(
            None if var is None else str(var),
            None if label is None else str(label),
            tuple((str(key), key.start_pos, self.literal(value)) for key, value in pairs),
            tree.meta.start_pos,
        )

    def _edge(self, tree: Any) -> _EdgeText:
        direction = tree.data.rpartition("_")[2]
        if tree.data.startswith("bare"):
            return _EdgeText(_Body(None, (), None, 0), direction)
        var, relations, hops = tree.children[0].children
        at = next((part.start_pos for part in (var,) if part is not None), 0)
        named = tuple((str(word), word.start_pos) for word in relations.children) if relations else ()
        return _EdgeText(_Body(None if var is None else str(var), named, self._hops(hops), at), direction)

    def _hops(self, tree: Any) -> _Hops | None:
        if tree is None:
            return None
        star, *bounds = tree.children
        numbers = [self._integer(bound) for bound in bounds]
        least, most = _bounds(tree.data, numbers)
        if not 1 <= least <= most <= QUERY_HOPS_MAX:
            dialect.refuse(
                self._text,
                star.start_pos,
                f"a path has from 1 to {QUERY_HOPS_MAX} hops, the smaller number first, not {least} to {most}",
            )
        return _Hops(least, most)

    def _item(self, tree: Any) -> _Item:
        shown, alias = tree.children
        what = self._shown(shown)
        return _Item(what, None if alias is None else str(alias), what.at if alias is None else alias.start_pos)

    def _key(self, tree: Any) -> tuple[_Name | _Counted, bool]:
        shown, direction = tree.children
        return self._shown(shown), direction is not None and direction.type == "DESCENDING"

    def _shown(self, tree: Any) -> _Name | _Counted:
        if tree.data == "field":
            return self.name(tree)
        if tree.data == "count_all":
            return _Counted(None, False, tree.children[0].start_pos)
        distinct, field = tree.children
        name = self.name(field)
        return _Counted(name, distinct is not None, name.at)

    def _integer(self, token: Any) -> int:
        # Longer ones cannot fit, and reading them takes time that grows with the square of their length.
        if len(token) > len(str(_I64)) + 1 or not -_I64 <= int(token) < _I64:
            dialect.refuse(self._text, token.start_pos, "a whole number has at most 64 bits")
        return int(token)

    def _decimal(self, token: Any) -> float:
        number = float(token)
        if not math.isfinite(number):
            dialect.refuse(self._text, token.start_pos, "a decimal number must be finite")
        return number


class _Builder:
    """From the parts of a text to its plan."""

    def __init__(self, text: str, query: _Query) -> None:
        self._text = text
        self._query = query
        self._reader = _Reader(text)
        self._parts: list[Part] = []
        self._identity: list[Operand] = []
        self._nodes: set[str] = set()
        self._edges: set[str] = set()
        self._hidden: dict[str, str] = {}
        self._path: str | None = None
        self._warnings: dict[str, None] = {}
        self._depth = 0

    def plan(self) -> Plan:
        """The plan."""
        query = self._query
        self._pattern()
        if query.where is not None:
            self._parts.append(Filter(self._condition(query.where)))
        outputs = self._outputs()
        counts = any(isinstance(output.of, Count) for output in outputs)
        shown = tuple(output.of for output in outputs if not isinstance(output.of, Count))
        distinct = query.distinct or (self._path is not None and not counts)
        return Plan(
            pattern=Group(tuple(self._parts)),
            outputs=outputs,
            distinct=distinct,
            group=tuple(dict.fromkeys(shown)) if counts else None,
            order=self._order(outputs, whole=distinct or counts),
            skip=query.skip,
            limit=query.limit,
            warnings=tuple(self._warnings),
        )

    # the pattern

    def _pattern(self) -> None:
        query = self._query
        if any(edge.body.hops for edge in query.edges) and len(query.edges) > 1:
            dialect.refuse_word(
                self._text,
                "a variable-length edge beside another edge",
                next(edge.body.at for edge in query.edges if edge.body.hops),
                "give each chain a query of its own",
            )
        ends = [self._node(node, f"#{place}") for place, node in enumerate(query.nodes)]
        for place, edge in enumerate(query.edges):
            self._edge(edge, ends[place], ends[place + 1], f"#e{place}")
            self._identity.append(Field(ends[place + 1], "id"))

    def _node(self, node: _NodeText, unnamed: str) -> str:
        var = node.var or unnamed
        self._nodes.add(var)
        if node.label is not None:
            self._parts.append(node_of_label(var, node.label))
        elif not self._query.edges:
            self._parts.append(Node(var, RECORDS))
        for key, at, value in node.map:
            self._parts.append(Filter(self._pair(var, key, at, value)))
        if not self._identity:
            self._identity.append(Field(var, "id"))
        return var

    def _pair(self, var: str, key: str, at: int, value: Scalar) -> Condition:
        if key == "namespace":
            dialect.refuse(self._text, at, "the namespaces of a query are those of its caller")
        if key == "entity_type" and not isinstance(value, str):
            dialect.refuse(self._text, at, "entity_type must be a string")
        inside = Compare("=", Field(var, "properties", (key,)), Const(value))
        if key not in NODE_FIELDS or key == "properties":
            return inside
        field = Compare("=", Field(var, key), Const(value))
        # Entities have none of the other fields, but may have properties of these names.
        return field if key in _OF_ENTITIES else Or((field, inside))

    def _edge(self, edge: _EdgeText, left: str, right: str, unnamed: str) -> None:
        relations = tuple(dict.fromkeys(self._relation(*named) for named in edge.body.relations))
        var = edge.body.var
        if var is not None and (var in self._nodes or var in self._edges or var in self._hidden):
            dialect.refuse(self._text, edge.body.at, f"{var!r} is taken; an edge has a name of its own")
        if any(relation in _OBSERVATIONS for relation in relations):
            self._observed(edge, left, right, relations)
        elif edge.body.hops is not None:
            self._variable(edge, left, right, relations, edge.body.hops)
        else:
            source, target = (right, left) if edge.direction == "in" else (left, right)
            self._parts.append(Edge(source, target, relations, edge.direction != "any", var or unnamed))
            self._identity.append(Field(var or unnamed, "id"))
            if var is not None:
                self._edges.add(var)

    def _variable(self, edge: _EdgeText, left: str, right: str, relations: tuple[str, ...], hops: _Hops) -> None:
        direction: Any = edge.direction
        self._path = "#path"
        steps = ((Hop(relations, direction),),)
        self._parts.append(Path(left, right, steps, hops.least, hops.most, revisits=False, var=self._path))
        if edge.body.var is not None:
            self._hidden[edge.body.var] = "a variable-length edge is not one edge and has no fields"

    def _observed(self, edge: _EdgeText, left: str, right: str, relations: tuple[str, ...]) -> None:
        at = edge.body.relations[0][1]
        if not all(relation in _OBSERVATIONS for relation in relations):
            dialect.refuse(self._text, at, "observations and graph relations are not mixed in one edge")
        if edge.direction != "out" or edge.body.hops is not None:
            dialect.refuse(self._text, at, f"an observation leads from an event: (e:event)-[:{relations[0]}]->(n)")
        roles = tuple(relation.removeprefix(_OBSERVED) for relation in relations)
        self._parts.append(Observed(left, right, roles))
        if edge.body.var is not None:
            self._hidden[edge.body.var] = "an observation is not an edge and has no fields"

    def _relation(self, word: str, at: int) -> str:
        relation = word.lower()
        if relation not in RELATIONS and relation not in _OBSERVATIONS:
            dialect.refuse(self._text, at, f"relations are {', '.join((*RELATIONS, *_OBSERVATIONS))}")
        return relation

    # conditions

    def _condition(self, tree: Any) -> Condition:
        self._depth += 1
        if self._depth > QUERY_MAX_NESTING:
            dialect.refuse(self._text, tree.meta.start_pos, f"conditions may be nested {QUERY_MAX_NESTING} deep")
        try:
            return self._inner_condition(tree)
        finally:
            self._depth -= 1

    def _inner_condition(self, tree: Any) -> Condition:
        if tree.data in ("any_of", "all_of"):
            if len(tree.children) == 1:
                return self._inner_condition(tree.children[0])
            parts = tuple(self._condition(child) for child in tree.children)
            return Or(parts) if tree.data == "any_of" else And(parts)
        if tree.data == "negated":
            return Not(self._condition(tree.children[0]))
        if tree.data in ("is_null", "is_not_null"):
            missing = IsNull(self._operand(tree.children[0]))
            return missing if tree.data == "is_null" else Not(missing)
        return self._test(tree)

    def _test(self, tree: Any) -> Condition:
        if tree.data in ("in_list", "not_in_list"):
            of, *items = tree.children
            values = tuple(self._reader.literal(item) for item in items if item is not None)
            self._check_relations(of, items)
            inside = InList(self._operand(of), values)
            return inside if tree.data == "in_list" else Not(inside)
        if tree.data == "compare":
            left, op, right = tree.children
            self._check_relations(left, [right])
            self._check_relations(right, [left])
            word: Any = "<>" if op == "!=" else str(op)
            return Compare(word, self._operand(left), self._operand(right))
        left, right = tree.children
        return TextTest(tree.data, self._operand(left), self._operand(right))

    def _operand(self, tree: Any) -> Operand:
        if tree.data != "field":
            return Const(self._reader.literal(tree))
        name = self._reader.name(tree)
        field = self._field(name)
        if field.name == "namespace":
            dialect.refuse(self._text, name.at, "the namespaces of a query are those of its caller")
        if field.name == "properties" and not field.path:
            dialect.refuse(self._text, name.at, f"name the property: {name.words[0]}.properties.<name>")
        return field

    def _check_relations(self, of: Any, items: Sequence[Any]) -> None:
        """A misspelt relation is refused, not compared in vain."""
        if of.data != "field":
            return
        words = tuple(str(word) for word in of.children)
        if len(words) == 2 and words[0] in self._edges and words[1] == "relation":
            for item in items:
                if item is not None and item.data == "string":
                    self._relation(str(item.children[0])[1:-1], item.children[0].start_pos)

    def _field(self, name: _Name) -> Field:
        """The field that a dotted name means; a bare variable means its identity."""
        var, *words = name.words
        if var in self._hidden:
            dialect.refuse(self._text, name.at, self._hidden[var])
        if var not in self._nodes and var not in self._edges:
            _refuse_foreign(self._text, var, name.at)
            known = sorted(self._nodes | self._edges)
            named = ", ".join(word for word in known if not word.startswith("#")) or "none"
            dialect.refuse(self._text, name.at, f"MATCH binds no variable {var!r}; it binds {named}")
        if not words:
            return Field(var, "id")
        return self._edge_field(name, var, words) if var in self._edges else self._node_field(var, words)

    def _node_field(self, var: str, words: list[str]) -> Field:
        first, *rest = words
        if first == "properties":
            return Field(var, first, tuple(rest))
        if first in NODE_FIELDS and not rest:
            return Field(var, first)
        dotted = ".".join(words)
        self._warnings[
            f"{var}.{dotted} is read as {var}.properties.{dotted}; fields of nodes are {', '.join(NODE_FIELDS)}"
        ] = None
        return Field(var, "properties", tuple(words))

    def _edge_field(self, name: _Name, var: str, words: list[str]) -> Field:
        first, *rest = words
        field = EDGE_ALIASES.get(first, first)
        if field not in EDGE_FIELDS or (rest and field != "properties"):
            dialect.refuse(self._text, name.at, f"fields of an edge are {', '.join((*EDGE_ALIASES, *EDGE_FIELDS))}")
        return Field(var, field, tuple(rest))

    # what is shown

    def _outputs(self) -> tuple[Output, ...]:
        found: dict[str, tuple[Expression, bool]] = {}
        for item in self._query.items:
            for column, of in self._columns(item):
                known = found.get(column)
                if known is not None and (known[1] or item.alias is not None or known[0] != of):
                    dialect.refuse(self._text, item.at, f"column {column!r} is there already; name it with AS")
                found[column] = (of, item.alias is not None)
        return tuple(Output(column, of) for column, (of, _) in found.items())

    def _columns(self, item: _Item) -> list[tuple[str, Expression]]:
        """The columns of one item; a whole record has several."""
        shown = item.shown
        if isinstance(shown, _Counted):
            return [(item.alias or _count_name(shown), self._counted(shown))]
        field = self._field(shown)
        if len(shown.words) > 1:
            return [(item.alias or "_".join(shown.words), field)]
        var = shown.words[0]
        prefix = item.alias or var
        if var in self._edges:
            return [(f"{prefix}_{column}", Field(var, name)) for column, name in EDGE_SHOWN.items()]
        return [(f"{prefix}_{name}", Field(var, name)) for name in NODE_SHOWN]

    def _counted(self, counted: _Counted) -> Count:
        return Count(None if counted.of is None else self._field(counted.of), counted.distinct)

    def _order(self, outputs: tuple[Output, ...], *, whole: bool) -> tuple[OrderKey, ...]:
        """What was asked for, then what makes the order complete; `whole`: rows stand for several solutions."""
        named = {output.name: output.of for output in outputs}
        keys = [self._sorted(shown, descending, named, whole=whole) for shown, descending in self._query.order]
        if self._path is not None:
            keys.append(OrderKey(PathMeasure(self._path, "depth")))
            keys.append(OrderKey(PathMeasure(self._path, "weight"), descending=True))
        rest = [output.of for output in outputs] if whole else self._identity
        keys += [OrderKey(of) for of in rest if of not in {key.of for key in keys}]
        return tuple(keys)

    def _sorted(
        self, shown: _Name | _Counted, descending: bool, named: dict[str, Expression], *, whole: bool
    ) -> OrderKey:
        # As in openCypher a missing value is the largest.
        key: Expression
        if isinstance(shown, _Counted):
            key = self._counted(shown)
            if not any(isinstance(of, Count) for of in named.values()):
                dialect.refuse(self._text, shown.at, "ORDER BY may count only when RETURN does")
        else:
            alias = named.get(shown.words[0]) if len(shown.words) == 1 else None
            key = alias if alias is not None else self._field(shown)
            if whole and key not in named.values():
                dialect.refuse(
                    self._text, shown.at, "behind DISTINCT, count and variable lengths ORDER BY takes what RETURN shows"
                )
        return OrderKey(key, descending, nulls_first=descending)


def _bounds(form: str, numbers: Sequence[int]) -> tuple[int, int]:
    """Least and most hops of `*`, `*2`, `*2..3`, `*2..` and `*..3`."""
    if form == "any_hops":
        return 1, QUERY_HOPS_DEFAULT
    if form == "hops_to":
        return 1, numbers[0]
    if form == "hops_from":
        return numbers[0], max(numbers[0], QUERY_HOPS_DEFAULT)
    return numbers[0], numbers[-1]


def _count_name(counted: _Counted) -> str:
    if counted.of is None:
        return "count"
    return "_".join(("count", *(("distinct",) if counted.distinct else ()), *counted.of.words))
