"""From a SPARQL text to its tree, or to an error that names the character.

Invariant: reading costs time in proportion to the text, whatever it says, and never more stack than the nesting that
is allowed. A word of SPARQL outside the dialect is refused by name.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, NoReturn, cast

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken

from hivekeep.query import dialect
from hivekeep.query.sparql_ast import (
    Alternative,
    Among,
    And,
    Branches,
    Call,
    Column,
    Compare,
    Comparison,
    Constant,
    Count,
    Element,
    Exists,
    Expression,
    Filter,
    Group,
    Inverse,
    Iri,
    Kind,
    Not,
    Optional,
    Or,
    OrderKey,
    Path,
    Query,
    Repeat,
    Steps,
    Term,
    Triple,
    Var,
)
from hivekeep.query.sparql_errors import invalid, unsupported
from hivekeep_contract.limits import QUERY_MAX_NESTING

_INTEGER_MAX: Final = 2**63 - 1
_INTEGER_DIGITS: Final = 18
_NUMBER_CHARS: Final = 400
_OPENING: Final = frozenset({"LPAR", "LBRACE"})
_CLOSING: Final = frozenset({"RPAR", "RBRACE"})
_ESCAPES: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LOCAL_ESCAPE: Final = re.compile(r"\\(.)")

_INSTEAD: Final[Mapping[str, str]] = {
    "OFFSET": "narrow the pattern or raise page_size",
    "HAVING": "count with GROUP BY and drop groups from the answer",
    "BIND": "name the value as a column: (expression AS ?name)",
    "VALUES": "use FILTER(?x IN (...))",
    "MINUS": "use FILTER NOT EXISTS { ... }",
    "SELECT": "a query has one SELECT",
    "AS": "only a value in brackets takes a name: (expression AS ?name)",
    "REDUCED": "use DISTINCT",
    "GRAPH": "there is one graph, of the namespaces you see",
    "SERVICE": "only the store at hand is asked",
    "FROM": "there is one graph, of the namespaces you see",
    "SUM": "COUNT is the one aggregate",
    "AVG": "COUNT is the one aggregate",
    "MIN": "COUNT is the one aggregate",
    "MAX": "COUNT is the one aggregate",
    "SAMPLE": "COUNT is the one aggregate",
    "GROUP_CONCAT": "COUNT is the one aggregate",
    "ASK": "use SELECT",
    "CONSTRUCT": "use SELECT",
    "DESCRIBE": "use SELECT",
    "*": "name the variables after SELECT",
    "[": "give the blank node a variable",
    "_:": "give the blank node a variable",
    "^^": "write numbers and true or false without quotes",
    "@": "texts have no language",
    "!": "name the relations that are wanted",
    "+": "there is no arithmetic",
    "-": "there is no arithmetic",
    "/": "there is no arithmetic",
}

_MEANINGS: Final[Mapping[str, str]] = {
    "VAR": "a variable",
    "IRI": "a name",
    "NAME": "a name",
    "STRING": "a text",
    "NUMBER": "a number",
    "FUNCTION": "a function",
    "NAMESPACE": "a prefix",
    "EMPTY_NAMESPACE": "a prefix",
    "A": "a",
    "QUESTION": "?",
    "STAR": "*",
    "PLUS": "+",
    "EQ": "=",
    "NE": "!=",
    "LE": "<=",
    "GE": ">=",
    "LT": "<",
    "GT": ">",
    "LPAR": "(",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "DOT": ".",
    "COMMA": ",",
    "SEMICOLON": ";",
    "VBAR": "|",
    "SLASH": "/",
    "CIRCUMFLEX": "^",
    "BANG": "!",
    "__ANON_0": "||",
    "__ANON_1": "&&",
    "$END": "the end",
}


def parse_tree(text: str) -> Query:
    """The tree of a SELECT.

    Raises InvalidQuery for what is not SPARQL, with the character, and Unsupported for what is outside the dialect.
    """
    reading = _parser().parse_interactive(text)
    depth = 0
    try:
        for token in reading.iter_parse():
            depth += (token.type in _OPENING) - (token.type in _CLOSING)
            if depth > QUERY_MAX_NESTING:
                raise invalid(f"brackets may be nested {QUERY_MAX_NESTING} deep", _at(token))
        query: Query = reading.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedInput as fault:
        _refuse(text, _place(fault, text), reading.accepts())  # type: ignore[no-untyped-call]
    return query


@cache
def _parser() -> Lark:
    grammar = files("hivekeep.query").joinpath("sparql.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=_Tree(), maybe_placeholders=False)


def _place(fault: UnexpectedInput, text: str) -> int:
    if isinstance(fault, UnexpectedToken) and fault.token.type == "$END":
        return len(text)
    return fault.pos_in_stream if fault.pos_in_stream is not None else len(text)


def _refuse(text: str, position: int, accepted: Iterable[str]) -> NoReturn:
    """Refuse a text at the character where it stops being of the dialect."""
    word = dialect.word_at(text, position).upper()
    if word in dialect.WRITE_WORDS:
        dialect.refuse_write(word)
    dialect.refuse_write_words(text)
    for mark, instead in _INSTEAD.items():
        if mark == word or (not mark[0].isalpha() and text.startswith(mark, position)):
            dialect.refuse_word(text, mark, position, instead)
    names = sorted({_MEANINGS.get(name, name) for name in accepted})
    dialect.refuse(text, position, f"accepted: {', '.join(names)}")


@v_args(inline=True)
class _Tree(Transformer[Token, Query]):
    """Builds the tree while the text is read; one method for each rule of the grammar.

    It keeps nothing between two calls, so one of it serves every thread.
    """

    # the prologue

    def start(self, prefixes: dict[str, str], query: Query) -> Query:
        return replace(query, prefixes=prefixes)

    def prologue(self, *declared: tuple[str, str]) -> dict[str, str]:
        return dict(declared)

    def prefix(self, _word: Token, namespace: Token, iri: Token) -> tuple[str, str]:
        return namespace[:-1], iri[1:-1]

    def base(self, _word: Token, iri: Token) -> tuple[str, str]:
        return "<", iri[1:-1]

    # the query

    def select(self, *parts: Any) -> Query:
        keep = [part for part in parts if not isinstance(part, Token)]
        clauses = {type(part): part for part in keep}
        return Query(
            prefixes={},
            columns=tuple(part for part in keep if isinstance(part, Column)),
            distinct=any(isinstance(part, Token) and part.type == "DISTINCT" for part in parts),
            where=clauses[Group],
            group_by=clauses.get(_GroupBy, _GroupBy(())).keys,
            order_by=clauses.get(_OrderBy, _OrderBy(())).keys,
            limit=clauses.get(_Limit, _Limit(None)).rows,
        )

    def plain_column(self, var: Var) -> Column:
        return Column(var, var)

    def named_column(self, value: Expression | Count, _as: Token, name: Var) -> Column:
        return Column(value, name)

    def count(self, word: Token, *parts: Token | Var) -> Count:
        of = parts[-1]
        return Count(of if isinstance(of, Var) else None, len(parts) == 2, _at(word))

    def group_by(self, _group: Token, _by: Token, *keys: Var) -> _GroupBy:
        return _GroupBy(keys)

    def order_by(self, _order: Token, _by: Token, *keys: OrderKey) -> _OrderBy:
        return _OrderBy(keys)

    def directed_key(self, way: Token, by: Expression | Count) -> OrderKey:
        return OrderKey(by, way.type == "DESC")

    def plain_key(self, by: Expression | Count) -> OrderKey:
        return OrderKey(by, False)

    def limit(self, _word: Token, rows: Token) -> _Limit:
        return _Limit(_whole(rows, "LIMIT"))

    # patterns

    def group(self, *elements: Element | tuple[Triple, ...]) -> Group:
        flat: list[Element] = []
        for element in elements:
            flat.extend(element if isinstance(element, tuple) else (element,))
        return Group(tuple(flat))

    def triples(self, subject: Term, properties: tuple[tuple[Path, Term], ...]) -> tuple[Triple, ...]:
        return tuple(Triple(subject, path, value) for path, value in properties)

    def properties(self, *lists: tuple[tuple[Path, Term], ...]) -> tuple[tuple[Path, Term], ...]:
        return tuple(pair for each in lists for pair in each)

    def property(self, path: Path, values: tuple[Term, ...]) -> tuple[tuple[Path, Term], ...]:
        return tuple((path, value) for value in values)

    def objects(self, *values: Term) -> tuple[Term, ...]:
        return values

    def filter(self, _word: Token, condition: Expression) -> Filter:
        return Filter(condition)

    def optional(self, _word: Token, group: Group) -> Optional:
        return Optional(group)

    def branches(self, *parts: Token | Group) -> Branches:
        return Branches(tuple(part for part in parts if isinstance(part, Group)))

    # property paths

    def variable_verb(self, word: Token) -> Path:
        raise unsupported(
            f"a variable as predicate, {word}, is not supported; name the relation or property", _at(word)
        )

    def alternative(self, *parts: Path) -> Path:
        return parts[0] if len(parts) == 1 else Alternative(parts)

    def sequence(self, *parts: Path) -> Path:
        return parts[0] if len(parts) == 1 else Steps(parts)

    def inverse(self, path: Path) -> Path:
        return Inverse(path)

    def repeat(self, path: Path, mark: Token) -> Path:
        least, most = {"QUESTION": (0, 1), "STAR": (0, None), "PLUS": (1, None)}[mark.type]
        return Repeat(path, least, most, _at(mark))

    def bounded_repeat(self, path: Path, least: Token, most: Token) -> Path:
        return Repeat(path, _whole(least, "a path"), _whole(most, "a path"), _at(least))

    def kind(self, word: Token) -> Path:
        return Kind(_at(word))

    # expressions

    def either(self, *parts: Expression) -> Expression:
        return parts[0] if len(parts) == 1 else Or(parts)

    def both(self, *parts: Expression) -> Expression:
        return parts[0] if len(parts) == 1 else And(parts)

    def compare(self, left: Expression, op: Token, right: Expression) -> Expression:
        return Compare(cast(Comparison, str(op)), left, right, _at(op))

    def among(self, left: Expression, *parts: Token | Expression) -> Expression:
        words = [part for part in parts if isinstance(part, Token)]
        items = tuple(part for part in parts if not isinstance(part, Token))
        return Among(left, items, len(words) == 2, _at(words[0]))

    def denied(self, part: Expression) -> Expression:
        # Denying three times is denying once, so a row of marks costs no depth.
        return part.part if isinstance(part, Not) and isinstance(part.part, Not) else Not(part)

    def call(self, word: Token, *args: Expression) -> Expression:
        return Call(word.upper(), args, _at(word))

    def exists(self, *parts: Any) -> Expression:
        return Exists(parts[-1], len(parts) == 3)

    # leaves

    def var(self, word: Token) -> Var:
        return Var(word[1:], _at(word))

    def iri(self, word: Token) -> Iri:
        if word.type == "IRI":
            return Iri(None, word[1:-1], _at(word))
        prefix, _, name = word.partition(":")
        return Iri(prefix, _LOCAL_ESCAPE.sub(r"\1", name), _at(word))

    def text(self, word: Token) -> Constant:
        marks = 3 if word[:3] in ('"""', "'''") else 1
        return Constant(_unescaped(word[marks:-marks], _at(word)), _at(word))

    def number(self, word: Token) -> Constant:
        return Constant(_number(word), _at(word))

    def truth(self, word: Token) -> Constant:
        return Constant(word.type == "TRUE", _at(word))


class _GroupBy(NamedTuple):
    """The clause GROUP BY."""

    keys: tuple[Var, ...]


class _OrderBy(NamedTuple):
    """The clause ORDER BY."""

    keys: tuple[OrderKey, ...]


class _Limit(NamedTuple):
    """The clause LIMIT."""

    rows: int | None


def _at(token: Token) -> int:
    return token.start_pos or 0


def _whole(token: Token, where: str) -> int:
    if not (token.isascii() and token.isdigit()) or len(token) > _INTEGER_DIGITS:
        raise invalid(f"{where} takes whole numbers from 0, not {token[:_INTEGER_DIGITS]}", _at(token))
    return int(token)


def _number(token: Token) -> int | float:
    at = _at(token)
    if len(token) > _NUMBER_CHARS:
        raise invalid(f"a number longer than {_NUMBER_CHARS} characters", at)
    try:
        whole = int(token)
    except ValueError:
        real = float(token)
        if not math.isfinite(real):
            raise invalid(f"number too large: {token}", at) from None
        return real
    if not -_INTEGER_MAX - 1 <= whole <= _INTEGER_MAX:
        raise invalid(f"whole number outside 64 bits: {token}", at)
    return whole


def _unescaped(text: str, at: int) -> str:
    if "\\" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code is not None:
            number = int(code, 16)
            if number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF:
                return chr(number)
        elif match[3] in _ESCAPES:
            return _ESCAPES[match[3]]
        raise invalid(f"unknown escape {match[0]!r} in the text", at)

    return _ESCAPE.sub(one, text)
