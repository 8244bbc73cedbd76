"""The expressions of SPARQL as conditions and values of the plan.

Invariant: an error of SPARQL is null here, so a filter drops the solution, and `!`, `&&` and `||` treat it as SPARQL
does. A record is compared only with a record or a name; where SPARQL would silently find nothing, the query is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from hivekeep.query import plan
from hivekeep.query import sparql_ast as ast
from hivekeep.query.sparql_errors import invalid, unsupported
from hivekeep.query.sparql_names import Names
from hivekeep_contract.errors import Unsupported

Sort = Literal["record", "value"]

MISSING: Final = plan.Apply("coalesce", ())
"""A variable that nothing binds here."""

_TEXT_TESTS: Final[Mapping[str, plan.TextOp]] = {"STRSTARTS": "starts", "STRENDS": "ends", "CONTAINS": "contains"}
_TESTS: Final = ("BOUND", "REGEX", *_TEXT_TESTS)
_ANY: Final = 100
_FUNCTIONS: Final[Mapping[str, tuple[plan.Function, int, int]]] = {
    "LCASE": ("lower", 1, 1),
    "UCASE": ("upper", 1, 1),
    "STRLEN": ("length", 1, 1),
    "SUBSTR": ("slice", 2, 3),
    "STRBEFORE": ("before", 2, 2),
    "STRAFTER": ("after", 2, 2),
    "CONCAT": ("concat", 1, _ANY),
    "STR": ("text", 1, 1),
    "COALESCE": ("coalesce", 1, _ANY),
}
_PATTERN_MARKS: Final = re.compile(r"[\\.*+?()\[\]{}|^$]")
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Scope(NamedTuple):
    """What an expression can see: the sort of each variable of the query, and the variables bound where it stands."""

    names: Names
    sorts: Mapping[str, Sort]
    bound: frozenset[str]
    exists: Callable[[ast.Group, frozenset[str]], plan.Group]


def condition(expression: ast.Expression, scope: Scope) -> plan.Condition:
    """What an expression asks when it stands where true or false is wanted."""
    match expression:
        case ast.Or():
            return plan.Or(tuple(condition(part, scope) for part in expression.parts))
        case ast.And():
            return plan.And(tuple(condition(part, scope) for part in expression.parts))
        case ast.Not():
            return plan.Not(condition(expression.part, scope))
        case ast.Compare():
            return _compare(expression, scope)
        case ast.Among():
            return _among(expression, scope)
        case ast.Exists():
            found = plan.Exists(scope.exists(expression.group, scope.bound))
            return plan.Not(found) if expression.denied else found
        case ast.Call() if expression.name in _TESTS:
            return _test(expression, scope)
    return plan.Truth(operand(expression, scope))


def operand(expression: ast.Expression, scope: Scope) -> plan.Operand:
    """The value of an expression."""
    match expression:
        case ast.Constant():
            return plan.Const(expression.value)
        case ast.Iri():
            return plan.Const(scope.names.of(expression))
        case ast.Var():
            return _variable(expression, scope)
        case ast.Call() if expression.name not in _TESTS:
            return _apply(expression, scope)
    raise Unsupported("query: a condition as a value is not supported; conditions stand in FILTER")


def identity(var: str) -> plan.Field:
    """What tells one record from another."""
    return plan.Field(var, "id")


def any_value(var: ast.Var, scope: Scope) -> plan.Operand:
    """Something that is there exactly when the variable is bound, and equal exactly when it means the same."""
    if var.name not in scope.bound:
        return MISSING
    return identity(var.name) if scope.sorts[var.name] == "record" else plan.Value(var.name)


def named(var: str, name: str) -> plan.Condition:
    """Whether a record is what a name stands for."""
    if _UUID.fullmatch(name):
        return plan.Compare("=", identity(var), plan.Const(name.lower()), exact=True)
    return plan.Compare("=", plan.Field(var, "name"), plan.Const(name))


def _compare(expression: ast.Compare, scope: Scope) -> plan.Condition:
    left, right = expression.left, expression.right
    if _is_condition(left) or _is_condition(right):
        return _compare_conditions(expression, scope)
    if _is_record(left, scope) or _is_record(right, scope):
        return _compare_records(expression, scope)
    return plan.Compare("<>" if expression.op == "!=" else expression.op, operand(left, scope), operand(right, scope))


def _compare_conditions(expression: ast.Compare, scope: Scope) -> plan.Condition:
    """A condition is only compared with true or false."""
    left, right = expression.left, expression.right
    if isinstance(left, ast.Constant):
        left, right = right, left
    if not isinstance(right, ast.Constant) or not isinstance(right.value, bool) or expression.op not in ("=", "!="):
        raise unsupported(
            f"{expression.op} compares a condition with another value; accepted: = or != with true or false, && and ||",
            expression.at,
        )
    asked = condition(left, scope)
    return asked if right.value is (expression.op == "=") else plan.Not(asked)


def _compare_records(expression: ast.Compare, scope: Scope) -> plan.Condition:
    """Records are the same or not; a record without a name is not the one a name stands for."""
    left, right = expression.left, expression.right
    if not _is_record(left, scope):
        left, right = right, left
    assert isinstance(left, ast.Var)
    if expression.op not in ("=", "!="):
        raise unsupported(
            f"{expression.op} would order records; compare a field, such as ?{left.name} :created_at ?time",
            expression.at,
        )
    if isinstance(right, ast.Iri):
        same = named(left.name, scope.names.of(right))
        return same if expression.op == "=" else _is_another(left.name, same)
    if isinstance(right, ast.Var) and scope.sorts.get(right.name) != "value":
        op: plan.CompareOp = "=" if expression.op == "=" else "<>"
        return plan.Compare(op, identity(left.name), any_value(right, scope))
    raise unsupported(
        f"{expression.op} compares the record ?{left.name} with a value, which never holds; compare its name: "
        f"?{left.name} :name ?n",
        expression.at,
    )


def _is_another(var: str, same: plan.Condition) -> plan.Condition:
    nameless = plan.And((plan.IsNull(plan.Field(var, "name")), plan.Not(plan.IsNull(identity(var)))))
    return plan.Or((nameless, plan.Not(same)))


def _among(expression: ast.Among, scope: Scope) -> plan.Condition:
    left, items = expression.left, expression.items
    plain = [item.value for item in items if isinstance(item, ast.Constant)]
    found: plan.Condition
    if len(plain) == len(items) and not _is_record(left, scope) and not _is_condition(left):
        found = plan.InList(operand(left, scope), tuple(plain))
    else:
        found = plan.Or(tuple(_compare(ast.Compare("=", left, item, expression.at), scope) for item in items))
    return plan.Not(found) if expression.denied else found


def _test(call: ast.Call, scope: Scope) -> plan.Condition:
    if call.name == "BOUND":
        _check_count(call, 1, 1)
        (var,) = call.args
        if not isinstance(var, ast.Var):
            raise _wrong_argument(call, "a variable")
        return plan.Not(plan.IsNull(any_value(var, scope)))
    if call.name == "REGEX":
        return _regex(call, scope)
    _check_count(call, 2, 2)
    text, part = (operand(each, scope) for each in call.args)
    return plan.TextTest(_TEXT_TESTS[call.name], text, part, exact=True)


def _regex(call: ast.Call, scope: Scope) -> plan.Condition:
    """REGEX with a plain text: a pattern that could run for long is not taken."""
    _check_count(call, 2, 3)
    text = operand(call.args[0], scope)
    written = [part.value for part in call.args[1:] if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if len(written) != len(call.args) - 1 or written[1:] not in ([], [""], ["i"]):
        raise _wrong_argument(call, 'a pattern in quotes and, at most, the flag "i"')
    pattern = written[0]
    first, last = pattern.startswith("^"), pattern.endswith("$")
    plain = pattern[first : len(pattern) - last]
    if _PATTERN_MARKS.search(plain):
        raise unsupported(
            f"the pattern {pattern!r} is not supported; REGEX takes a plain text, with ^ before or $ behind it",
            call.at,
        )
    exact = written[1:] != ["i"]
    if first and last:
        return plan.Compare("=", text, plan.Const(plain), exact=exact)
    return plan.TextTest("starts" if first else "ends" if last else "contains", text, plan.Const(plain), exact=exact)


def _apply(call: ast.Call, scope: Scope) -> plan.Operand:
    if call.name not in _FUNCTIONS:
        accepted = ", ".join(sorted((*_FUNCTIONS, *_TESTS)))
        raise unsupported(f"{call.name} is not supported; accepted: {accepted}, and COUNT as a column", call.at)
    function, least, most = _FUNCTIONS[call.name]
    _check_count(call, least, most)
    args = tuple(operand(arg, scope) for arg in call.args)
    return plan.Apply(function, _slice(call, args[0]) if function == "slice" else args)


def _slice(call: ast.Call, text: plan.Operand) -> tuple[plan.Operand, ...]:
    """Start and length in whole numbers; places before the first character hold nothing but count."""
    places = [part.value for part in call.args[1:] if isinstance(part, ast.Constant) and type(part.value) is int]
    if len(places) != len(call.args) - 1:
        raise _wrong_argument(call, "a start and a length in whole numbers")
    start = max(places[0], 1)
    length = max(sum(places) - start, 0) if len(places) == 2 else -1
    return text, plan.Const(start), plan.Const(length)


def _variable(var: ast.Var, scope: Scope) -> plan.Operand:
    if var.name not in scope.bound:
        return MISSING
    if scope.sorts[var.name] == "record":
        raise unsupported(
            f"the record ?{var.name} stands where a value is wanted; use a field of it: ?{var.name} :name ?n", var.at
        )
    return plan.Value(var.name)


def _is_record(expression: ast.Expression, scope: Scope) -> bool:
    return (
        isinstance(expression, ast.Var) and expression.name in scope.bound and scope.sorts[expression.name] == "record"
    )


def _is_condition(expression: ast.Expression) -> bool:
    if isinstance(expression, ast.Call):
        return expression.name in _TESTS
    return isinstance(expression, ast.Or | ast.And | ast.Not | ast.Compare | ast.Among | ast.Exists)


def _check_count(call: ast.Call, least: int, most: int) -> None:
    given = len(call.args)
    if not least <= given <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < _ANY else f"at least {least}"
        raise invalid(f"{call.name} takes {wanted} arguments, not {given}", call.at)


def _wrong_argument(call: ast.Call, wanted: str) -> Unsupported:
    return unsupported(f"{call.name} takes {wanted}; anything else is not supported", call.at)
