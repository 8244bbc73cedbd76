"""What both languages share: which one a text is written in, and how a text is refused.

Invariant: a text that would write is refused with the verbs that do, wherever in it the word stands; every other
refusal names the word and its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NoReturn

from hivekeep_contract.errors import InvalidQuery, Unsupported
from hivekeep_contract.limits import QUERY_MAX_BYTES, QUERY_MAX_NESTING

Language = Literal["gql", "sparql"]

WRITE_WORDS: Final = frozenset(
    {
        *("CREATE", "DELETE", "DETACH", "SET", "REMOVE", "MERGE", "FOREACH"),
        *("INSERT", "UPDATE", "LOAD", "CLEAR", "DROP", "COPY", "MOVE", "ADD"),
    }
)
"""Words that begin a change in one of the languages."""
_OTHER_STARTS: Final = frozenset(
    {
        *("OPTIONAL", "UNWIND", "CALL", "WITH", "RETURN", "UNION", "USE", "EXPLAIN", "PROFILE", "SHOW", "FOR", "LET"),
        *("FILTER", "ASK", "CONSTRUCT", "DESCRIBE"),
    }
)
_STARTS: Final[dict[str, Language]] = {"MATCH": "gql", "SELECT": "sparql"}

_BEGINNING: Final = "a query begins with MATCH (GQL) or SELECT (SPARQL)"
_LEAD: Final = re.compile(r"(?:\s+|#[^\n]*|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_PROLOGUE: Final = re.compile(r"(?:PREFIX\s+[^\s:<>]*:\s*|BASE\s+)<[^<>\s]*>", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d]\w*")
_PIECES: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|<[^<>\s\"'{}|^`]*>|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|[.:?$]\s*[^\W\d]\w*|[^\W\d]\w*", re.DOTALL
)
_NESTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|[(){}\[\]]", re.DOTALL)
_HERE_MAX: Final = 24


def language_of(text: str) -> Language:
    """Which language a query is written in; raises Unsupported or InvalidQuery when it is in neither."""
    _check_size(text)
    start = _start(text)
    word = word_at(text, start).upper()
    if word not in _STARTS:
        _refuse_start(text, start, word)
    return _STARTS[word]


def _refuse_start(text: str, start: int, word: str) -> NoReturn:
    if word in WRITE_WORDS or (word == "WITH" and _write_word(text)):
        refuse_write(_write_word(text) or word)
    if word in _OTHER_STARTS:
        refuse_word(text, word, start, _BEGINNING)
    refuse(text, start, _BEGINNING)


def refuse(text: str, position: int, accepted: str) -> NoReturn:
    """Raise InvalidQuery that shows what stands at a position and says what is accepted there."""
    line, column = place(text, position)
    raise InvalidQuery(
        f"query: line {line}, column {column}: {_here(text, position)}; {accepted}",
        details={"position": position, "line": line, "column": column},
    )


def refuse_word(text: str, word: str, position: int, instead: str) -> NoReturn:
    """Raise Unsupported for a word of the language that is outside the dialect."""
    line, column = place(text, position)
    raise Unsupported(
        f"query: line {line}, column {column}: {word} is not part of the dialect; {instead}",
        details={"word": word, "position": position, "line": line, "column": column},
    )


def refuse_write(word: str) -> NoReturn:
    """Raise Unsupported for a text that would write."""
    raise Unsupported(
        f"query: is read-only, {word.upper()} is refused; create, update, link, merge and delete change the graph",
        details={"word": word.upper()},
    )


def refuse_write_words(text: str) -> None:
    """Raise Unsupported when a text has a word of writing outside strings, comments and names."""
    word = _write_word(text)
    if word:
        refuse_write(word)


def place(text: str, position: int) -> tuple[int, int]:
    """Line and column of a position, both from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def word_at(text: str, position: int) -> str:
    """The word that begins at a position, or nothing."""
    found = _WORD.match(text, position)
    return found[0] if found else ""


def _check_size(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > QUERY_MAX_BYTES:
        raise InvalidQuery(f"query: has {size} bytes; at most {QUERY_MAX_BYTES} are accepted")
    depth = 0
    for piece in _NESTED.finditer(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(piece[0], 0)
        if depth > QUERY_MAX_NESTING:
            refuse(text, piece.start(), f"brackets may be nested {QUERY_MAX_NESTING} deep")


def _start(text: str) -> int:
    """Where the query begins, behind comments and the prologue of SPARQL."""
    position = 0
    while True:
        lead = _LEAD.match(text, position)
        position = lead.end() if lead else position
        declaration = _PROLOGUE.match(text, position)
        if declaration is None:
            return position
        position = declaration.end()


def _write_word(text: str) -> str:
    return next((word for word in _bare_words(text) if word.upper() in WRITE_WORDS), "")


def _bare_words(text: str) -> Iterator[str]:
    return (piece[0] for piece in _PIECES.finditer(text) if _WORD.fullmatch(piece[0]))


def _here(text: str, position: int) -> str:
    if position >= len(text):
        return "the query ends here"
    shown = text[position : position + _HERE_MAX].split("\n")[0]
    return f"{shown!r} is not expected"
