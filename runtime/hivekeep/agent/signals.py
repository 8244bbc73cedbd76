"""What a text or the scope of an entry names exactly: keys that are looked up, words that are compared.

Invariant: both sides of a comparison go through the same folding (NFKC, lower case, single blanks), so the same thing
written in two ways is one key. Everything here is pure and linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from hivekeep.normal_form import normal_form
from hivekeep.search import lexical
from hivekeep.search.lexical import Term
from hivekeep_contract.gateway import APPLICABILITY_FIELDS, PATH_STOP_WORDS, SIGNAL_FIELDS, SQL_SHAPES
from hivekeep_contract.limits import (
    RANKING_WORD_MIN,
    RETRIEVAL_PART_MAX,
    RETRIEVAL_TERM_MAX,
    RETRIEVAL_TERMS_MAX,
    RETRIEVAL_VALUES_MAX,
    STOP_WORDS,
)

Signal = tuple[str, str]
"""The field that a value stands in, and the folded value."""

_SQL: Final = tuple(re.compile(shape) for shape in SQL_SHAPES)
# A quoted piece, a path or file name, a name of code in one of its usual spellings, an error.
_NAMED: Final = re.compile(
    r"`([^`\n]{1,200})`"
    r"|((?<![\w./~-])(?:~|\.{1,2})?/?(?:[\w@.-]{1,80}/){1,20}[\w@-]{0,80}\.[A-Za-z]\w{0,7}\b)"
    r"|(\b[\w-]{2,80}\.[A-Za-z]{1,4}\b)"
    r"|(@[\w-]{1,80}/[\w.-]{1,80})"
    r"|(\b[A-Za-z]\w{0,80}(?:::\w{1,80})+)"
    r"|(\b[A-Za-z]\w{0,80}\(\))"
    r"|(\b[A-Za-z][A-Za-z0-9]{0,80}_\w{1,80}\b)"
    r"|(\b[a-z]{1,80}[A-Z]\w{0,80}\b)"
    r"|(\b[A-Z][a-z0-9]{1,80}[A-Z]\w{0,80}\b)"
    r"|(\b[A-Z]{1,5}-?\d{3,8}\b)"
)
_WORD: Final = re.compile(r"[^\W_]+")
_IGNORED_WORDS: Final = frozenset(STOP_WORDS) | frozenset(PATH_STOP_WORDS)
_HERE: Final = "./"
_CALL: Final = "()"
_NAME: Final = "name"
_SIGNALS: Final = "signals"
_APPLICABILITY: Final = "applicability"


def fold(text: str) -> str:
    """The form in which texts are compared: NFKC, lower case, single blanks (gateway rules, ranking)."""
    return " ".join(normal_form("NFKC", text).lower().split())


def key(text: str) -> str:
    """The key of a value that is looked up exactly: folded, without what two spellings of one name differ in."""
    return fold(text).removeprefix(_HERE).removesuffix(_CALL)


def of_scope(scope: Mapping[str, Any]) -> list[Signal]:
    """The signals of a structured scope, its applicability included; of any other scope, none.

    What does not have the form of a structured scope is passed over: checking it is the matter of whoever stores it.
    """
    found: dict[Signal, None] = {}
    for member, fields in ((_SIGNALS, SIGNAL_FIELDS), (_APPLICABILITY, APPLICABILITY_FIELDS)):
        held = scope.get(member)
        if isinstance(held, Mapping):
            found.update(dict.fromkeys((field, value) for field in fields for value in _values(held.get(field))))
    return list(found)


def has_applicability(signals: Iterable[Signal]) -> bool:
    """Whether the signals of a scope say where it applies."""
    return any(field in APPLICABILITY_FIELDS for field, _ in signals)


def named(text: str) -> list[str]:
    """The symbols, paths, errors, packages and commands that a text names, as they stand there."""
    return [next(filter(None, match.groups())) for match in _NAMED.finditer(text)]


def looks_like_sql(text: str) -> bool:
    """Whether a text is a database statement and nothing that memory could be about (gateway rules, retrieval)."""
    return any(shape.search(text) for shape in _SQL) and not named(text)


def terms(text: str) -> list[Term]:
    """The terms of a text that tell something: no stop words while there is another one; at most 64.

    A term is looked up in quotes, so nothing of the text is an operator.
    """
    cut = " ".join(word[:RETRIEVAL_TERM_MAX] for word in text.split())
    parsed = lexical.parse_terms(cut)[:RETRIEVAL_TERMS_MAX]
    return [term for term in parsed if not term.stops] or list(parsed)


def keys(texts: Sequence[str], values: Iterable[str] = ()) -> list[str]:
    """The keys that a question looks up exactly: its values and short texts as a whole, what they name, their terms."""
    found: dict[str, None] = {}
    for candidate in (*values, *texts):
        if len(candidate) <= RETRIEVAL_PART_MAX:
            found[key(candidate)] = None
    for text in texts:
        found.update(dict.fromkeys(map(key, named(text))))
        found.update(dict.fromkeys(key(term.literal) for term in terms(text)))
    found.pop("", None)
    return list(islice(found, RETRIEVAL_VALUES_MAX))


def words(text: str) -> set[str]:
    """The words of a text or path that two texts can share; in scripts without blanks every pair of neighbors.

    Words that are short, and those of nearly every path or sentence, are no words here.
    """
    found = set()
    for word in _WORD.findall(fold(text)):
        if word.isascii():
            if len(word) >= RANKING_WORD_MIN and word not in _IGNORED_WORDS:
                found.add(word)
        elif lexical.is_spaceless(word):
            found.update(word[start : start + 2] for start in range(len(word) - 1))
        elif len(word) >= RANKING_WORD_MIN:
            found.add(word)
    return found


def _values(values: object) -> Iterator[str]:
    """The keys of a list of texts, or of objects that have a name."""
    for value in values if isinstance(values, list) else ():
        text = value.get(_NAME) if isinstance(value, Mapping) else value
        if isinstance(text, str) and (folded := key(text)):
            yield folded
