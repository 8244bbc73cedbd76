"""SPARQL: from the text of a SELECT to the logical plan.

The graph is read as RDF. A record is a resource. `a` is its kind. A predicate that is a relation is an edge, one that
is a field of the record is that field, any other is a JSON property of that name. A name in the place of a record is
the entity of that name or, when it is a full UUID, the record of that id. A variable that only fields describe is an
entity or a note.

Invariant: the plan has the solutions that SPARQL gives for that reading, with two differences, both in favor of how
names are compared everywhere here: `=`, `!=`, IN and a text in a triple ignore the case of ASCII letters, and a name
stands for every entity that has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hivekeep.query import plan
from hivekeep.query import sparql_ast as ast
from hivekeep.query.fields import NODE_SHOWN
from hivekeep.query.sparql_errors import invalid, unsupported
from hivekeep.query.sparql_expressions import MISSING, Scope, any_value, identity, operand
from hivekeep.query.sparql_names import Names
from hivekeep.query.sparql_patterns import Patterns
from hivekeep_contract.errors import InvalidQuery


def parse(text: str) -> plan.Plan:
    """The plan of a SPARQL text.

    Raises InvalidQuery for what is not SPARQL or contradicts itself, Unsupported for what is outside the dialect; the
    message names the word and the character.
    """
    # Reading needs lark, which is imported at the first query.
    from hivekeep.query.sparql_parse import parse_tree

    query = parse_tree(text)
    patterns = Patterns(Names(query.prefixes))
    pattern, bound = patterns.whole(query.where)
    return _Answer(query, patterns.scope(bound)).of(pattern)


class _Answer:
    """What of the solutions is shown, in which order."""

    def __init__(self, query: ast.Query, scope: Scope) -> None:
        self.query = query
        self.scope = scope
        self.grouped = bool(query.group_by) or any(isinstance(column.value, ast.Count) for column in query.columns)
        self.keys = {var.name for var in query.group_by}

    def of(self, pattern: plan.Group) -> plan.Plan:
        """The whole plan."""
        self._check_columns()
        outputs = tuple(output for column in self.query.columns for output in self._outputs(column))
        self._check_names(outputs)
        group = tuple(of for var in self.query.group_by for _, of in self._parts(var)) if self.grouped else None
        return plan.Plan(
            pattern=pattern,
            outputs=outputs,
            distinct=self.query.distinct,
            group=group,
            order=tuple(self._order()),
            limit=self.query.limit,
        )

    # columns

    def _check_columns(self) -> None:
        for var in (*self.query.group_by, *(column.value for column in self.query.columns)):
            if isinstance(var, ast.Var) and var.name not in self.scope.bound:
                raise invalid(f"?{var.name} is bound nowhere in WHERE", var.at)
        for column in self.query.columns:
            if column.value is not column.name and column.name.name in self.scope.bound:
                raise invalid(
                    f"?{column.name.name} is already a variable; give the column another name", column.name.at
                )
            if self.grouped and not self._is_of_group(column.value):
                raise invalid(f"?{column.name.name} is neither in GROUP BY nor a COUNT", column.name.at)

    def _is_of_group(self, value: ast.Expression | ast.Count) -> bool:
        return isinstance(value, ast.Count) or (isinstance(value, ast.Var) and value.name in self.keys)

    def _check_names(self, outputs: tuple[plan.Output, ...]) -> None:
        (name, times), *_ = Counter(output.name for output in outputs).most_common(1)
        if times > 1:
            raise InvalidQuery(f"query: two columns would be called {name}; a column is named once")

    def _outputs(self, column: ast.Column) -> Iterator[plan.Output]:
        name = column.name.name
        if isinstance(column.value, ast.Var):
            for suffix, of in self._parts(column.value):
                yield plan.Output(name + suffix, of)
        else:
            yield plan.Output(name, self._expression(column.value))

    def _parts(self, var: ast.Var) -> Iterator[tuple[str, plan.Operand]]:
        """(suffix of the column, value) of all that a variable shows: a record shows its fields, a value itself."""
        if self.scope.sorts[var.name] == "value":
            yield "", plan.Value(var.name)
            return
        for field in NODE_SHOWN:
            yield f"_{field}", plan.Field(var.name, field)

    def _expression(self, value: ast.Expression | ast.Count) -> plan.Expression:
        if not isinstance(value, ast.Count):
            return operand(value, self.scope)
        if value.of is not None:
            return plan.Count(any_value(value.of, self.scope), value.distinct)
        if value.distinct:
            raise unsupported("COUNT(DISTINCT *) is not supported; name one variable", value.at)
        return plan.Count()

    # order

    def _order(self) -> Iterator[plan.OrderKey]:
        """The keys asked for, then what makes one row differ from another, so that every answer has one order."""
        for key in self.query.order_by:
            for of in self._ordered_by(key.by):
                yield plan.OrderKey(of, key.descending, nulls_first=not key.descending)
        for column in self.query.columns:
            of = (
                any_value(column.value, self.scope)
                if isinstance(column.value, ast.Var)
                else self._expression(column.value)
            )
            yield plan.OrderKey(of, nulls_first=True)

    def _ordered_by(self, by: ast.Expression | ast.Count) -> Iterator[plan.Expression]:
        """Records sort by name, records of one name by id."""
        aliases = {column.name.name: column.value for column in self.query.columns}
        if isinstance(by, ast.Var):
            by = aliases.get(by.name, by)
        if self.grouped and not self._is_of_group(by):
            raise InvalidQuery("query: a query that counts is ordered by keys of GROUP BY and by counts")
        if isinstance(by, ast.Var) and self.scope.sorts.get(by.name) == "record":
            yield plan.Field(by.name, "name")
            yield identity(by.name)
            return
        of = self._expression(by)
        if of != MISSING:
            yield of
