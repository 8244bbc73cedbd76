"""From a logical plan to one SQL statement.

Fixed patterns become joins in an order chosen here (CROSS JOIN keeps SQLite to it): first the variable whose own
conditions select most, then along the edges from what is bound. Paths become common table expressions (`paths`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.query.bindings import all_variables, binds, find, is_plain, record_variables, surely_binds
from hivekeep.query.expressions import Args, Sql, compare, const, in_list, same_value, tag_of, text_test
from hivekeep.query.fields import ANY_RECORD, COLUMNS, TABLES, type_of
from hivekeep.query.functions import apply, truth
from hivekeep.query.paths import PathTable, path_table
from hivekeep.query.plan import (
    SUBSTRATES,
    And,
    Apply,
    Bind,
    Compare,
    Condition,
    Const,
    Count,
    Edge,
    Exists,
    Expression,
    Field,
    Filter,
    Group,
    InList,
    IsNull,
    Node,
    Not,
    Observed,
    Operand,
    Optional,
    Or,
    OrderKey,
    Output,
    Part,
    Path,
    PathMeasure,
    Plan,
    Substrate,
    TextTest,
    Truth,
    Union,
    Value,
    Within,
)
from hivekeep.query.seeding import seeded
from hivekeep.storage.statements import Statement
from hivekeep_contract.errors import Unsupported
from hivekeep_contract.limits import QUERY_MAX_PARTS

TABLES_MAX: Final = 60
"""SQLite joins at most 64."""

_ENDS: Final[tuple[Substrate, ...]] = ("entity", "note")
_BOTH_WAYS: Final = (
    "(SELECT *, source_id AS near, target_id AS far FROM edges WHERE source_id <> target_id"
    " UNION ALL SELECT *, target_id AS near, source_id AS far FROM edges WHERE source_id <> target_id)"
)
_NO_CHOICE: Final = 5
"""Rank of a variable without any condition of its own."""
_COUNTED: Final = (Node, Edge, Observed, Path, Bind, Compare, TextTest, InList, IsNull, Exists, Output, OrderKey)


class Compiled(NamedTuple):
    """A statement that ends in two free places, for LIMIT and OFFSET, and what its columns hold."""

    statement: Statement
    columns: tuple[tuple[str, str], ...]
    """(name, type) of each column; `time` is microseconds, `json` and `object` are JSON text."""


def compile_plan(plan: Plan, namespaces: Sequence[str]) -> Compiled:
    """The statement that answers a plan over the live records of these namespaces.

    Raises Unsupported for a plan that is larger than SQLite takes, InvalidInput for a literal that cannot be compared.
    """
    size = sum(1 for _ in find(plan, _COUNTED))
    if size > QUERY_MAX_PARTS:
        raise Unsupported(
            f"query: has {size} patterns, conditions, columns and sort keys; at most {QUERY_MAX_PARTS} are accepted"
        )
    return _Compiler(seeded(plan), namespaces).statement()


class _Record(NamedTuple):
    """What a record variable is bound to; `columns` has the fields that the plan uses."""

    id: str
    columns: dict[str, Sql]
    nullable: bool = False


class _Scope:
    """The variables bound so far, those around a subquery included."""

    def __init__(self, around: _Scope | None = None) -> None:
        self.records: dict[str, _Record] = dict(around.records) if around else {}
        self.values: dict[str, Sql] = dict(around.values) if around else {}
        self.paths: dict[str, str] = dict(around.paths) if around else {}


class _Compiler:
    """One compilation: arguments, common tables and names that the whole statement shares."""

    def __init__(self, plan: Plan, namespaces: Sequence[str]) -> None:
        self.plan = plan
        self.args = Args()
        self.visible = self.args.add_all(namespaces)
        self.ctes: list[str] = []
        self.used: dict[str, list[str]] = {}
        for field in find(plan, Field):
            self.used.setdefault(field.var, []).append(field.name)
        self.tables = 0
        self._names = 0

    def name(self, letter: str) -> str:
        """A fresh name of a table or column."""
        self._names += 1
        return f"{letter}{self._names}"

    def table(self) -> None:
        """Count one more joined table."""
        self.tables += 1
        if self.tables > TABLES_MAX:
            raise Unsupported(
                "query: the pattern is too large for one statement; give kinds to more nodes, or split it into several"
            )

    def live(self, substrate: Substrate, table: str, *, indexed: bool = False) -> list[str]:
        """The conditions under which a row is live and visible; `indexed`: SQLite may start from the namespace."""
        conditions = [f"{'' if indexed else '+'}{table}.namespace IN ({self.visible})"]
        return conditions if substrate == "event" else [f"{table}.deleted_at IS NULL", *conditions]

    def columns(self, var: str, substrate: Substrate, table: str) -> dict[str, Sql]:
        """The used fields of a variable, read from one table."""
        known = COLUMNS[substrate]
        found = {}
        for name in self.used.get(var, ()):
            if name in known:
                key = f"{table}.name_key" if (substrate, name) == ("entity", "name") else ""
                found[name] = Sql(known[name].sql.replace("{t}", table), known[name].type, key=key)
            else:
                found[name] = Sql("NULL", type_of(name))
        return found

    def statement(self) -> Compiled:
        """The whole statement."""
        plan = self.plan
        body = _GroupCompiler(self, plan.pattern, _Scope())
        body.build()
        outputs = [body.expression(output.of) for output in plan.outputs]
        shown = [output.shown for output in outputs]
        grouped = plan.group is not None or plan.distinct
        select = "SELECT " + ("DISTINCT " if plan.distinct and plan.group is not None else "")
        text = select + ", ".join(shown) + body.sql()
        if grouped:
            keys = shown if plan.group is None else [body.operand(key).shown for key in plan.group]
            text += " GROUP BY " + ", ".join(dict.fromkeys(keys)) if keys else ""
        order = [self._order_key(body, key, grouped) for key in plan.order if plan.group != ()]
        text += " ORDER BY " + ", ".join(dict.fromkeys(order)) if order else ""
        places = len(self.args.values)
        text += f" LIMIT ?{places + 1} OFFSET ?{places + 2}"
        if self.ctes:
            text = "WITH RECURSIVE " + ", ".join(self.ctes) + " " + text
        columns = tuple((output.name, value.type) for output, value in zip(plan.outputs, outputs, strict=True))
        return Compiled(Statement(text, self.args.values), columns)

    def _order_key(self, body: _GroupCompiler, key: OrderKey, grouped: bool) -> str:
        text = body.expression(key.of).text
        kept = {output.of for output in self.plan.outputs} if self.plan.group is None else set(self.plan.group)
        if grouped and key.of not in kept and not isinstance(key.of, Count):
            text = f"{'max' if key.descending else 'min'}({text})"
        return f"{text} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


class _GroupCompiler:
    """One group: its tables, its conditions and the variables it binds."""

    def __init__(self, whole: _Compiler, group: Group, around: _Scope) -> None:
        self.whole = whole
        self.group = group
        self.around = around
        self.scope = _Scope(around)
        self.tables: list[str] = []
        self.where: list[str] = []
        self._nodes: dict[str, Node] = {}
        self._joins: list[Edge | Observed | Path | Union] = []
        self._late: list[Union] = []
        self._binds: list[Bind] = []
        self._optionals: list[Optional] = []
        self._filters: list[Condition] = []
        self._own: dict[str, list[Condition]] = {}

    # the shape of the statement

    def build(self) -> None:
        """Place every part."""
        self._sort_out()
        self._place_outer_nodes()
        while self._joins or any(var not in self.scope.records for var in self._nodes):
            self._place_next()
        for bind in self._binds:
            self._bind(bind)
        for union in self._late:
            self._union(union)
        for optional in self._optionals:
            self._optional(optional.group)
        self.where += [self.condition(condition) for condition in self._filters]

    def sql(self) -> str:
        """FROM and WHERE."""
        text = " FROM " + " ".join(self.tables) if self.tables else ""
        return text + (" WHERE " + " AND ".join(self.where) if self.where else "")

    def _sort_out(self) -> None:
        for part in self.group.parts:
            match part:
                case Node():
                    self._nodes[part.var] = _both(self._nodes.get(part.var), part)
                case Bind():
                    self._binds.append(part)
                case Filter():
                    self._filters += _conjuncts(part.condition)
                case Optional():
                    self._optionals.append(part)
                case _:
                    self._joins.append(part)
        self._late = [join for join in self._joins if isinstance(join, Union) and self._waits(join)]
        self._joins = [join for join in self._joins if join not in self._late]
        for condition in self._filters:
            variables = record_variables(condition)
            if len(variables) == 1 and is_plain(condition):
                self._own.setdefault(variables.pop(), []).append(condition)
        for join in self._joins:
            for var, allowed in _end_substrates(join):
                self._nodes[var] = _both(self._nodes.get(var), Node(var, allowed))

    def _waits(self, union: Union) -> bool:
        """Whether an arm may leave a variable open that another part binds: that part then says what it is."""
        open_ = binds(union) - surely_binds(union)
        return any(open_ & binds(part) for part in self.group.parts if part is not union)

    def _place_outer_nodes(self) -> None:
        """What the group around bound already is only looked up again where this group asks for more of it."""
        for part in self.group.parts:
            if isinstance(part, Node) and part.var in self.around.records:
                self._attach(part.var, self.around.records[part.var].id)

    def _place_next(self) -> None:
        join = self._next_join()
        if join is not None:
            self._joins.remove(join)
            self._place(join)
            return
        free = [var for var in self._nodes if var not in self.scope.records]
        self._start_at(min(free, key=self._rank))

    def _next_join(self) -> Edge | Observed | Path | Union | None:
        """The join to place now: one between bound ends, else one from a bound end, else one that is its own start."""
        bound = [(sum(end in self.scope.records for end in _ends(join)), join) for join in self._joins]
        for wanted in (2, 1):
            for count, join in bound:
                if count == wanted and (len(_ends(join)) == 2 or wanted == 1):
                    return join
        unions = [join for join in self._joins if isinstance(join, Union)]
        if unions and self._best_rank() > 1:
            return unions[0]
        paths = [join for join in self._joins if isinstance(join, Path)]
        if paths and not any(isinstance(join, (Edge, Observed)) for join in self._joins):
            return paths[0]
        if self._best_rank() == _NO_CHOICE:
            return next((join for join in self._joins if isinstance(join, Edge)), None)
        return None

    def _best_rank(self) -> int:
        return min((self._rank(var) for var in self._nodes if var not in self.scope.records), default=_NO_CHOICE)

    def _rank(self, var: str) -> int:
        """How much the conditions of a variable alone select: 0 one record, `_NO_CHOICE` nothing."""
        named = [_pinned(condition) for condition in self._own.get(var, ())]
        if "id" in named:
            return 0
        if "name" in named:
            return 1
        node = self._nodes.get(var)
        if node is not None and node.kind is not None:
            return 2 if named else 3
        # Events are so many that looking through them is worse than starting elsewhere.
        return 4 if named and node is not None and "event" not in node.substrates else _NO_CHOICE

    # binding records

    def _start_at(self, var: str) -> None:
        """Scan the records a variable may be."""
        node = self._nodes[var]
        if len(node.substrates) == 1:
            substrate = node.substrates[0]
            table = self.whole.name("n")
            self._join(f"{TABLES[substrate]} AS {table}")
            self.where += self._of_kind(node, substrate, table, indexed=node.kind is not None or self._rank(var) <= 1)
            self.scope.records[var] = _Record(f"{table}.id", self.whole.columns(var, substrate, table))
            return
        self._join_union(var, node)

    def _join_union(self, var: str, node: Node) -> None:
        """Scan several tables as one, with the conditions of the variable inside, where the indexes are."""
        names = list(dict.fromkeys(self.whole.used.get(var, ())))
        own = self._own.pop(var, [])
        self._filters = [condition for condition in self._filters if condition not in own]
        arms = []
        for substrate in node.substrates:
            table = self.whole.name("n")
            inner = _GroupCompiler(self.whole, Group(()), self.around)
            columns = self.whole.columns(var, substrate, table)
            inner.scope.records[var] = _Record(f"{table}.id", columns)
            where = self._of_kind(node, substrate, table, indexed=node.kind is not None or bool(own))
            where += [inner.condition(condition) for condition in own]
            shown = ", ".join(f"{columns[name].text} AS c{place}" for place, name in enumerate(names))
            arms.append(
                f"SELECT {table}.id AS id{', ' + shown if shown else ''} FROM {TABLES[substrate]} AS {table}"
                f" WHERE {' AND '.join(where)}"
            )
        if not arms:
            nothing = "".join(f", NULL AS c{place}" for place in range(len(names)))
            arms.append(f"SELECT NULL AS id{nothing} WHERE 0")
        table = self.whole.name("u")
        self._join(f"({' UNION ALL '.join(arms)}) AS {table}")
        found = {name: Sql(f"{table}.c{place}", type_of(name)) for place, name in enumerate(names)}
        self.scope.records[var] = _Record(f"{table}.id", found)

    def _of_kind(self, node: Node, substrate: Substrate, table: str, *, indexed: bool) -> list[str]:
        conditions = self.whole.live(substrate, table, indexed=indexed)
        if node.kind is not None:
            column = COLUMNS[substrate]["kind"].sql.replace("{t}", table)
            conditions.append(f"{column} = {self.whole.args.add(node.kind)}")
        return conditions

    def _attach(self, var: str, record_id: str) -> None:
        """Bind a variable to the live record of a known id."""
        node = self._nodes[var]
        tables = [(substrate, self.whole.name("n")) for substrate in node.substrates]
        if not tables:
            self.where.append("0")
            self.scope.records[var] = _Record(record_id, {name: Sql("NULL", type_of(name)) for name in self._used(var)})
            return
        if len(tables) == 1:
            substrate, table = tables[0]
            self._join(f"{TABLES[substrate]} AS {table}")
            self.where.append(f"{table}.id = {record_id}")
            self.where += self._of_kind(node, substrate, table, indexed=False)
            self.scope.records[var] = _Record(record_id, self.whole.columns(var, substrate, table))
            return
        self._attach_one_of(var, record_id, node, tables)

    def _attach_one_of(self, var: str, record_id: str, node: Node, tables: list[tuple[Substrate, str]]) -> None:
        """Look for an id in one table after the other."""
        if not self.tables:
            self._join("(SELECT 1)")
        wanted = record_id
        for substrate, table in tables:
            conditions = [f"{table}.id = {wanted}", *self._of_kind(node, substrate, table, indexed=False)]
            self._join(f"{TABLES[substrate]} AS {table}", how="LEFT JOIN", on=" AND ".join(conditions))
            wanted = f"CASE WHEN {table}.id IS NULL THEN {wanted} END"
        self.where.append(f"coalesce({', '.join(f'{table}.id' for _, table in tables)}) IS NOT NULL")
        each = [self.whole.columns(var, substrate, table) for substrate, table in tables]
        self.scope.records[var] = _Record(record_id, {name: _first(each, name) for name in self._used(var)})

    def _meet(self, var: str, record_id: str) -> None:
        """Make an id that a join found the value of a variable, or compare it with the one it has."""
        if var not in self.scope.records:
            self._attach(var, record_id)
            return
        bound = self.scope.records[var]
        if bound.nullable:
            raise Unsupported(f"query: {var!r} may be unbound where a later pattern needs it; bind it in every branch")
        self.where.append(f"{bound.id} = {record_id}")

    def _used(self, var: str) -> list[str]:
        return list(dict.fromkeys(self.whole.used.get(var, ())))

    # joins

    def _join(self, table: str, *, how: str = "CROSS JOIN", on: str = "") -> None:
        self.whole.table()
        self.tables.append((f"{how} {table}" if self.tables else table) + (f" ON {on}" if on else ""))

    def _place(self, join: Edge | Observed | Path | Union) -> None:
        match join:
            case Edge():
                self._edge(join)
            case Observed():
                self._observed(join)
            case Path():
                self._path(join)
            case Union():
                self._union(join)

    def _edge(self, edge: Edge) -> None:
        table = self.whole.name("e")
        turned = not edge.directed and not {edge.source, edge.target} & self.scope.records.keys()
        self._join(f"{_BOTH_WAYS if turned else 'edges'} AS {table}")
        self.where += self.whole.live("edge", table)
        if edge.relations:
            self.where.append(f"{table}.relation IN ({self.whole.args.add_all(edge.relations)})")
        if edge.var is not None:
            self._bind_edge(edge.var, table)
        if edge.directed:
            self._meet_both(edge, f"{table}.source_id", f"{table}.target_id")
        elif turned:
            self._meet(edge.source, f"{table}.near")
            self._meet(edge.target, f"{table}.far")
        else:
            self._either_way(edge, table)

    def _bind_edge(self, var: str, table: str) -> None:
        if var in self.scope.records:
            self.where.append(f"{self.scope.records[var].id} = {table}.id")
            return
        self.scope.records[var] = _Record(f"{table}.id", self.whole.columns(var, "edge", table))

    def _meet_both(self, join: Edge | Observed, source_id: str, target_id: str) -> None:
        """The bound end first: it is what the table is entered by."""
        ends = [(join.source, source_id), (join.target, target_id)] if isinstance(join, Edge) else []
        if isinstance(join, Observed):
            ends = [(join.event, source_id), (join.target, target_id)]
        for var, record_id in sorted(ends, key=lambda end: end[0] not in self.scope.records):
            self._meet(var, record_id)

    def _either_way(self, edge: Edge, table: str) -> None:
        near, far = edge.source, edge.target
        if near not in self.scope.records:
            near, far = far, near
        here = self.scope.records[near].id
        self.where.append(f"({table}.source_id = {here} OR {table}.target_id = {here})")
        self.where.append(f"{table}.source_id <> {table}.target_id")
        self._meet(far, f"CASE {table}.source_id WHEN {here} THEN {table}.target_id ELSE {table}.source_id END")

    def _observed(self, observed: Observed) -> None:
        table = self.whole.name("o")
        self._join(f"event_observations AS {table}")
        self.where.append(f"{table}.role IN ({self.whole.args.add_all(observed.roles)})")
        self.where.append(
            f"{table}.position = (SELECT min(p.position) FROM event_observations AS p WHERE p.event_id ="
            f" {table}.event_id AND p.role = {table}.role AND p.referent_id = {table}.referent_id)"
        )
        self._meet_both(observed, f"{table}.event_id", f"{table}.referent_id")

    def _path(self, path: Path) -> None:
        name = self.whole.name("p")
        backward = self._rank(path.target) < self._rank(path.source)
        seeds = self._seeds(path.target if backward else path.source)
        source = PathTable(name, self.whole.args, self.whole.visible, seeds)
        self.whole.ctes += path_table(path, source, backward=backward)
        table = self.whole.name("w")
        self._join(f"{name} AS {table}")
        if path.var is not None:
            self.scope.paths[path.var] = table
        for var, column in ((path.source, "source"), (path.target, "target")):
            self._meet(var, f"{table}.{column}")

    def _seeds(self, var: str) -> str:
        """Where a path begins: what the conditions of the variable leave, or what the rest of the group does."""
        parts: list[Part] = [self._nodes.get(var, Node(var, _ENDS))]
        if self._rank(var) == _NO_CHOICE:
            parts += self._connected(var)
        known = {name for part in parts for name in binds(part)}
        parts += [Filter(condition) for condition in self._own_of(known)]
        return self._distinct(var, Group(tuple(parts)))

    def _distinct(self, var: str, group: Group) -> str:
        """The records that a group binds a variable to, whatever is bound here."""
        inner = _GroupCompiler(self.whole, group, _Scope())
        tables, self.whole.tables = self.whole.tables, 0
        inner.build()
        self.whole.tables = tables
        return f"SELECT DISTINCT {inner.scope.records[var].id}{inner.sql()}"

    def _own_of(self, variables: set[str]) -> list[Condition]:
        return [
            condition
            for part in self.group.parts
            if isinstance(part, Filter)
            for condition in _conjuncts(part.condition)
            if len(record_variables(condition)) == 1
            and record_variables(condition) <= variables
            and is_plain(condition)
        ]

    def _connected(self, var: str) -> list[Part]:
        """The edges of this group that a variable is joined to, with the nodes at their ends."""
        reached, found = {var}, list[Part]()
        edges = [part for part in self.group.parts if isinstance(part, (Edge, Observed))]
        while fresh := [edge for edge in edges if edge not in found and reached & set(_ends(edge))]:
            found += fresh
            reached |= {end for edge in fresh for end in _ends(edge)}
        nodes = [part for part in self.group.parts if isinstance(part, Node) and part.var in reached]
        return [*found, *nodes] if found else []

    # optional and alternative groups

    def _optional(self, group: Group) -> None:
        match group.parts:
            case (Bind() as bind,) if self._is_plain(bind):
                self.scope.values[bind.var] = self.operand(bind.of)
                return
        sure = {name for part in group.parts for name in surely_binds(part)}
        kept: list[Part] = []
        outer: list[Part] = []
        for part in group.parts:
            # What the group may leave open can be bound around it, and then the condition sees that.
            foreign = isinstance(part, Filter) and not all_variables(part.condition) <= sure
            (outer if foreign else kept).append(part)
        sub = _Subquery(self.whole, Group(tuple(kept)), self.around)
        table = self.whole.name("q")
        if not self.tables:
            self._join("(SELECT 1)")
        found = sub.exports(table)
        on = self._agreement(found)
        self._take(found, nullable=True)
        on += [self.condition(part.condition) for part in outer if isinstance(part, Filter)]
        self._join(f"({sub.text}) AS {table}", how="LEFT JOIN", on=" AND ".join(on) or "1")

    def _is_plain(self, bind: Bind) -> bool:
        """Whether an optional value is just a field that may be missing."""
        if bind.var in self.scope.values or not isinstance(bind.of, Field):
            return False
        record = self.scope.records.get(bind.of.var)
        return record is not None and not record.nullable

    def _union(self, union: Union) -> None:
        arms = [_Subquery(self.whole, arm, self.around) for arm in union.arms]
        merged = _Alternatives(self.whole, arms)
        table = self.whole.name("q")
        self._join(f"({merged.text}) AS {table}")
        found = merged.exports(table)
        self.where += self._agreement(found)
        self._take(found, nullable=False)
        for part in self.group.parts:
            if isinstance(part, Node) and part.var in found.records and not found.records[part.var].nullable:
                self._attach(part.var, found.records[part.var].id)

    def _agreement(self, found: _Exports) -> list[str]:
        """What must be equal for solutions of a subquery to join those so far."""
        conditions = []
        for var, record in found.records.items():
            bound = self.scope.records.get(var)
            if bound is not None:
                missing = [f"{side.id} IS NULL" for side in (bound, record) if side.nullable]
                conditions.append("(" + " OR ".join([*missing, f"{bound.id} = {record.id}"]) + ")")
        for var, value in found.values.items():
            known = self.scope.values.get(var)
            if known is not None:
                conditions.append(f"({known.text} IS NULL OR {value.text} IS NULL OR {same_value(known, value)})")
        return conditions

    def _take(self, found: _Exports, *, nullable: bool) -> None:
        """Bind the variables of a subquery; one that may have been unbound so far is what either side says."""
        for var, record in found.records.items():
            bound = self.scope.records.get(var)
            if bound is None:
                self.scope.records[var] = record._replace(nullable=nullable or record.nullable)
            elif bound.nullable:
                columns = {name: _first([bound.columns, record.columns], name) for name in bound.columns}
                still = nullable or record.nullable
                self.scope.records[var] = _Record(f"coalesce({bound.id}, {record.id})", columns, still)
        for var, value in found.values.items():
            known = self.scope.values.get(var)
            self.scope.values[var] = value if known is None else _either(known, value)

    # values and conditions

    def _bind(self, bind: Bind) -> None:
        value = self.operand(bind.of)
        known = self.scope.values.get(bind.var)
        if known is None:
            self.scope.values[bind.var] = value
            self.where.append(f"{value.text} IS NOT NULL")
        else:
            self.where.append(same_value(known, value))

    def expression(self, of: Expression) -> Sql:
        """An output or order key."""
        if not isinstance(of, Count):
            return self.operand(of)
        if of.of is None:
            return Sql("count(*)", "number")
        value = self.operand(of.of)
        return Sql(f"count({'DISTINCT ' if of.distinct else ''}{value.shown if of.distinct else value.text})", "number")

    def operand(self, of: Operand) -> Sql:
        """A value."""
        match of:
            case Const():
                return const(self.whole.args, of.value)
            case Value():
                return self.scope.values.get(of.var, Sql("NULL", "text"))
            case PathMeasure():
                return Sql(f"{self.scope.paths[of.path]}.{'hops' if of.measure == 'depth' else 'total'}", "number")
            case Field():
                return self._field(of)
            case Apply():
                return apply(of.name, [self.operand(arg) for arg in of.args])

    def _field(self, of: Field) -> Sql:
        record = self.scope.records.get(of.var)
        if record is None:
            return Sql("NULL", type_of(of.name))
        if of.name == "id":
            return Sql(record.id, "id")
        column = record.columns[of.name]
        if not of.path or column.type != "object":
            return column
        path = self.whole.args.add("$" + "".join(f'."{step}"' for step in of.path))
        return Sql(
            f"json_extract({column.text}, {path})", "json", tag=f"nullif(json_type({column.text}, {path}), 'null')"
        )

    def condition(self, of: Condition) -> str:
        """A condition as SQL."""
        args = self.whole.args
        match of:
            case And():
                return "(" + " AND ".join(self.condition(part) for part in of.parts) + ")" if of.parts else "1"
            case Or():
                return "(" + " OR ".join(self.condition(part) for part in of.parts) + ")" if of.parts else "0"
            case Not():
                return f"(NOT {self.condition(of.part)})"
            case Compare():
                return compare(args, of, self.operand(of.left), self.operand(of.right))
            case TextTest():
                return text_test(of, self.operand(of.left), self.operand(of.right))
            case InList():
                return in_list(args, of, self.operand(of.left))
            case IsNull():
                return f"({self.operand(of.of).text} IS NULL)"
            case Truth():
                return truth(self.operand(of.of))
            case Exists():
                return self._exists(of.group)
            case Within():
                return f"{self.scope.records[of.var].id} IN ({self._distinct(of.var, of.group)})"

    def _exists(self, group: Group) -> str:
        """A variable that may be unbound here, and is bound in the group, agrees with it only where it is bound."""
        inside = {name for part in group.parts for name in binds(part)}
        open_records = {name for name, record in self.scope.records.items() if record.nullable and name in inside}
        open_values = inside & self.scope.values.keys()
        around = _Scope(self.scope)
        for name in open_records:
            del around.records[name]
        for name in open_values:
            del around.values[name]
        inner = _GroupCompiler(self.whole, group, around)
        inner.build()
        found = inner.scope
        records = {name: found.records[name] for name in open_records}
        values = {name: found.values[name] for name in open_values}
        inner.where += self._agreement(_Exports(records, values))
        return f"EXISTS (SELECT 1{inner.sql()})"


class _Exports(NamedTuple):
    """What a subquery binds, as its columns are seen from outside."""

    records: dict[str, _Record]
    values: dict[str, Sql]


class _Subquery:
    """A group of its own in FROM; its columns are `{name}` for each bound variable and field."""

    def __init__(self, whole: _Compiler, group: Group, around: _Scope) -> None:
        self.body = _GroupCompiler(whole, group, around)
        tables, whole.tables = whole.tables, 0
        self.body.build()
        whole.tables = tables
        self.records = {v: r for v, r in self.body.scope.records.items() if around.records.get(v) is not r}
        self.values = {v: s for v, s in self.body.scope.values.items() if around.values.get(v) is not s}
        self._whole = whole

    @property
    def text(self) -> str:
        """The subquery alone."""
        return self.select(_layout(self._whole, [self]))

    def exports(self, table: str) -> _Exports:
        """Its variables as columns of `table`."""
        return _seen(self._whole, [self], table)

    def select(self, layout: list[tuple[str, str, str]]) -> str:
        """The subquery with the columns of a layout."""
        columns = [f"{self._column(*column)} AS {_label(place)}" for place, column in enumerate(layout)]
        return f"SELECT {', '.join(columns) or '1'}{self.body.sql()}"

    def _column(self, sort: str, var: str, name: str) -> str:
        if sort == "record":
            record = self.records.get(var)
            return "NULL" if record is None else record.id if name == "id" else record.columns[name].text
        value = self.values.get(var)
        if value is None:
            return "NULL"
        return tag_of(value) if name == "tag" else value.text


class _Alternatives:
    """Several subqueries one after the other."""

    def __init__(self, whole: _Compiler, arms: list[_Subquery]) -> None:
        self._whole = whole
        self._arms = arms

    @property
    def text(self) -> str:
        """All arms, with the same columns."""
        layout = _layout(self._whole, self._arms)
        return " UNION ALL ".join(arm.select(layout) for arm in self._arms)

    def exports(self, table: str) -> _Exports:
        """Their variables as columns of `table`."""
        return _seen(self._whole, self._arms, table)


def _layout(whole: _Compiler, arms: list[_Subquery]) -> list[tuple[str, str, str]]:
    """(sort, variable, field) of each column that carries what any of the subqueries binds."""
    layout: dict[tuple[str, str, str], None] = {}
    for arm in arms:
        for var in arm.records:
            for name in ("id", *whole.used.get(var, ())):
                layout["record", var, name] = None
        for var in arm.values:
            layout["value", var, "value"] = layout["value", var, "tag"] = None
    return list(layout)


def _seen(whole: _Compiler, arms: list[_Subquery], table: str) -> _Exports:
    layout = {column: f"{table}.{_label(place)}" for place, column in enumerate(_layout(whole, arms))}
    records, values = {}, {}
    for var in dict.fromkeys(var for arm in arms for var in arm.records):
        columns = {name: Sql(layout["record", var, name], type_of(name)) for name in whole.used.get(var, ())}
        open_ = any(var not in arm.records or arm.records[var].nullable for arm in arms)
        records[var] = _Record(layout["record", var, "id"], columns, open_)
    for var in dict.fromkeys(var for arm in arms for var in arm.values):
        types = {arm.values[var].type for arm in arms if var in arm.values}
        only = types.pop() if len(types) == 1 else "json"
        tag = layout["value", var, "tag"] if only == "json" else ""
        values[var] = Sql(layout["value", var, "value"], only, tag=tag)
    return _Exports(records, values)


def _label(place: int) -> str:
    return f"c{place}"


def _first(each: list[dict[str, Sql]], name: str) -> Sql:
    """The field of whichever record is there."""
    texts = [columns[name].text for columns in each if columns[name].text != "NULL"]
    text = f"coalesce({', '.join(texts)})" if len(texts) > 1 else texts[0] if texts else "NULL"
    return Sql(text, type_of(name))


def _either(one: Sql, other: Sql) -> Sql:
    text = f"coalesce({one.text}, {other.text})"
    if one.type == other.type != "json":
        return Sql(text, one.type)
    return Sql(text, "json", tag=f"coalesce({tag_of(one)}, {tag_of(other)})")


def _both(one: Node | None, other: Node) -> Node:
    """A node that is what two constraints allow."""
    if one is None:
        return other
    substrates = tuple(name for name in one.substrates if name in other.substrates)
    if one.kind is not None and other.kind is not None and one.kind != other.kind:
        substrates = ()
    return Node(one.var, substrates, one.kind or other.kind)


def _ends(join: Edge | Observed | Path | Union) -> tuple[str, ...]:
    match join:
        case Edge() | Path():
            return (join.source, join.target)
        case Observed():
            return (join.event, join.target)
        case Union():
            return tuple({name for arm in join.arms for part in arm.parts for name in binds(part)})


def _end_substrates(join: Edge | Observed | Path | Union) -> list[tuple[str, tuple[Substrate, ...]]]:
    """What the ends of a join can be: only what annotates may lead to events and edges, and nothing comes from them."""
    match join:
        case Observed():
            return [(join.event, ("event",)), (join.target, _ENDS)]
        case Edge():
            target = _targets(join.relations)
            return [(join.source, _ENDS if join.directed else target), (join.target, target)]
        case Path():
            first = _path_end([(chain[0].relations, chain[0].direction != "out") for chain in join.steps], join.least)
            last = _path_end([(chain[-1].relations, chain[-1].direction != "in") for chain in join.steps], join.least)
            return [(join.source, first), (join.target, last)]
        case Union():
            return []


def _path_end(hops: list[tuple[tuple[str, ...], bool]], least: int) -> tuple[Substrate, ...]:
    """What an end of a path can be, from the hops there and whether each comes in at its target."""
    if least == 0:
        return SUBSTRATES if any(_targets(relations) == SUBSTRATES for relations, _ in hops) else _ENDS
    return SUBSTRATES if any(target and _targets(relations) == SUBSTRATES for relations, target in hops) else _ENDS


def _targets(relations: tuple[str, ...]) -> tuple[Substrate, ...]:
    return SUBSTRATES if not relations or set(relations) & set(ANY_RECORD) else _ENDS


def _conjuncts(condition: Condition) -> list[Condition]:
    if isinstance(condition, And):
        return [inner for part in condition.parts for inner in _conjuncts(part)]
    return [condition]


def _pinned(condition: Condition) -> str:
    """The field that a condition compares with a literal for equality: id and name have an index."""
    if isinstance(condition, Within):
        return "name"
    if isinstance(condition, InList) and isinstance(condition.left, Field):
        return condition.left.name
    if isinstance(condition, Compare) and condition.op == "=":
        sides = (condition.left, condition.right)
        if any(isinstance(side, Const) for side in sides):
            return next((side.name for side in sides if isinstance(side, Field)), "")
    return ""
