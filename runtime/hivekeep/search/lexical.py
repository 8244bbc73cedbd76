"""Query text to full-text plans: what a caller typed becomes quoted terms, and nothing else.

The invariant: no character of a query reaches FTS5 as syntax. Every term is a quoted string, the only
operators are the ``AND`` and ``OR`` written here, and a term that no index can answer becomes a substring
test with a bound parameter. So any text that is not blank can be searched, and none of it raises.

A term has two readings:

* the *word* reading, looked up in the stemmed word index: ``foo-bar`` is (foo and bar), or ``foobar``, or
  the two words side by side;
* the *literal* reading, looked up in the trigram index: the characters as written, found inside words too.

A literal shorter than a trigram is looked up as the trigrams that begin with it (the index ends every text
with two blanks, so the last characters begin one too), unless those are too many: then records are compared.

Scripts without spaces between words (Han, Kana, Thai, ...) and terms whose symbols carry the meaning
(``C++``, ``C#``) have no word reading: a word index would find something else.

Where one term is enough, stop words are left out while another term is left, and the parts of a compound of words
(``tumor-suppressor``) count one by one beside the compound, so that a text which says it otherwise is found behind one
which says it so. Those of an identifier (``BENCH-100821``) do not: its neighbor in the series is another thing. A
possessive (``Ada's``) counts as its word alone: counted twice, a text that has the same possessive would be found
before one that says what was asked of it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from hivekeep.normal_form import normal_form
from hivekeep_contract.limits import SEARCH_MAX_TERMS, SEARCH_QUERY_MAX_BYTES, STOP_WORDS

TextMode = Literal["all_terms", "any_term"]

TRIGRAM = 3
"""Characters below which the trigram index holds nothing for a term."""

INDEXED_TERM_CHARS = 64
"""Characters of one term that an index looks up; a longer term is also compared with the record, in whole."""

MAX_CASED_LETTERS = 3
"""Letters outside ASCII up to which a substring test tries every mix of cases; SQLite lowers only ASCII."""

COMPARED_TERMS = 16
"""Terms of one query that are compared with records for want of an index; later ones of them are ignored."""

_OPERATORS = frozenset({"AND", "OR", "NOT", "NEAR"})
_DECORATION = "()[]{}<>,:;.!?\"'`…“”‘’«»，。！？、：；（）「」『』【】《》"
_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’]s$", re.IGNORECASE)
_SHORT_FORM = re.compile(r"(?:n['’]t|['’](?:s|d|ll|re|ve|m))$", re.IGNORECASE)
_TO_SPACE = str.maketrans(dict.fromkeys("(),:-./", " "))
_TO_NOTHING = str.maketrans(dict.fromkeys("*\"'’+^~!$"))
_STOP_WORDS = frozenset(STOP_WORDS)

_CONTROLS = {code: None for code in range(0xA0) if unicodedata.category(chr(code)) == "Cc" and not chr(code).isspace()}

_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x9FFF),  # radicals, Kana, Bopomofo, Han
    (0xA960, 0xA97F),  # Hangul letters, extended
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFFDC),  # half-width Kana and Hangul
    (0x1B000, 0x1B16F),  # Kana supplements
    (0x20000, 0x3FFFF),  # Han, extensions
)


Groups = tuple[tuple[str, ...], ...]
"""Groups of spellings; a record satisfies a group that it holds one spelling of."""

Expand = Callable[[str], Sequence[str] | None]
"""The trigrams of the index that begin with a text, in lower case; None when there are too many of them."""


class Term(NamedTuple):
    """One looked-up term: the literal, and its readings for the two indexes (None: not expressible).

    `loose` are quoted words and phrases of which each counts alone where one term is enough.
    """

    literal: str
    words: str | None
    trigrams: str | None
    loose: tuple[str, ...] = ()

    @property
    def overlong(self) -> bool:
        """Whether the indexes see only the start of the literal."""
        return len(self.literal) > INDEXED_TERM_CHARS

    @property
    def stops(self) -> bool:
        """Whether it is a stop word or a short form of one (``what's``, ``didn't``, ``we'd``)."""
        return _is_stop_word(_spaced(self.literal)) or _is_stop_word(_SHORT_FORM.sub("", self.literal))


class WordPlan(NamedTuple):
    """What is asked of the word index: a MATCH expression, and the groups that its hits must hold as well."""

    match: str
    where: Groups


class LiteralPlan(NamedTuple):
    """What is asked of the trigram index (None: nothing), and what only a comparison of the records can find.

    A hit of `match` holds one spelling of each group of `where`. `scan` are groups that are compared with all
    records of the scope: each of them must be held, or with `scan_any` one of them.
    """

    match: str | None
    where: Groups
    scan: Groups
    scan_any: bool


def plan_words(terms: Sequence[Term], mode: TextMode) -> WordPlan | None:
    """The plan for the word index; None when no term has a word reading."""
    if mode == "any_term":
        loose = _loose_words(terms)
        return WordPlan(" OR ".join(loose), ()) if loose else None
    readings = [term.words for term in terms if term.words]
    if not readings:
        return None
    return WordPlan(" AND ".join(readings), _groups(term for term in terms if not term.words or term.overlong))


def plan_literals(terms: Sequence[Term], mode: TextMode, expand: Expand) -> LiteralPlan:
    """The plan for substrings; `expand` says which trigrams begin with a term that is shorter than one."""
    return _literals_of_all(terms, expand) if mode == "all_terms" else _literals_of_any(terms, expand)


def _loose_words(terms: Sequence[Term]) -> list[str]:
    """What any_term asks the word index for: each word and phrase once, however often the query says it."""
    telling = _telling(terms)
    if len(telling) == 1:
        return [term.words for term in telling if term.words]
    once: dict[str, str] = {}
    for form in itertools.chain.from_iterable(term.loose for term in telling):
        once.setdefault(form.casefold(), form)
    return list(once.values())


def _telling(terms: Sequence[Term]) -> Sequence[Term]:
    """The terms that are no stop words; all of them when there is no other."""
    return [term for term in terms if not term.stops] or terms


def wordless(terms: Sequence[Term]) -> list[Term]:
    """The terms that the word index cannot find: those of scripts without blanks, and of symbols."""
    return [term for term in _telling(terms) if not term.words]


def normalise(text: str) -> str:
    """The form in which text is indexed and asked for: Unicode NFC."""
    return normal_form("NFC", text)


def parse_terms(query: str) -> tuple[Term, ...]:
    """The distinct terms of a query in order, at most SEARCH_MAX_TERMS of its first SEARCH_QUERY_MAX_BYTES.

    Bare AND, OR, NOT and NEAR and lone punctuation are dropped while something else is left; a query that
    consists of nothing else is looked up as written.
    """
    tokens = _clean(query).split()
    bare = (token.strip(_DECORATION) for token in tokens)
    wanted = [token for token in bare if _spaced(token).strip() and token.upper() not in _OPERATORS]
    distinct = {token.casefold(): token for token in reversed(wanted or tokens)}
    return tuple(_term(token) for token in itertools.islice(reversed(distinct.values()), SEARCH_MAX_TERMS))


def spellings(literal: str) -> tuple[str, ...]:
    """The spellings a substring test tries against text whose ASCII letters are lowered.

    Letters outside ASCII are tried in both cases (SQLite's ``lower`` leaves them alone), and a literal with
    composed characters also in its decomposed form, because the record keeps what its author wrote.
    """
    if literal.isascii():
        return (literal.lower(),)
    if sum(char.lower() != char.upper() for char in literal if not char.isascii()) <= MAX_CASED_LETTERS:
        cases = [(char,) if char.isascii() else {char.lower(), char.upper()} for char in literal]
        found = {_lower_ascii("".join(chars)) for chars in itertools.product(*cases)}
    else:
        found = {_lower_ascii(form) for form in (literal, literal.lower(), literal.upper(), literal.capitalize())}
    return tuple(sorted(found | {unicodedata.normalize("NFD", form) for form in found}))


def _clean(query: str) -> str:
    head = query.encode("utf-8", "ignore")[:SEARCH_QUERY_MAX_BYTES].decode("utf-8", "ignore")
    return normalise(head).translate(_CONTROLS)


def _lower_ascii(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def _spaced(token: str) -> str:
    """A token as its parts: joining marks become spaces, marks inside a word fall out."""
    return token.translate(_TO_NOTHING).translate(_TO_SPACE)


def _term(token: str) -> Term:
    head = token[:INDEXED_TERM_CHARS]
    parts = _spaced(head).split()
    words = _word_reading(head, parts)
    loose = _loose_reading(head, parts) if words else _short_reading(head)
    return Term(token, words, _literal_reading(head, parts), loose)


def _word_reading(head: str, parts: list[str]) -> str | None:
    letters = sum(char.isalnum() for char in head)
    if letters == 0 or is_spaceless(head) or (letters < TRIGRAM and letters < len(head)):
        return None
    return _any_of([_quote(head), *_joined_and_split(head, parts)])


def _loose_reading(head: str, parts: list[str]) -> tuple[str, ...]:
    bare = _POSSESSIVE.sub("", head)
    if bare != head:
        return _loose_reading(bare, _spaced(bare).split())
    if len(parts) < 2 or any(char.isdigit() for char in head):
        return (_quote(head), *_joined_and_split(head, parts))
    apart = [_quote(part) for part in parts if _base_length(part) >= TRIGRAM and not _is_stop_word(part)]
    return (_quote(head), *_joined_and_split(head, parts)[:1], *apart)


def _short_reading(head: str) -> tuple[str, ...]:
    """A short term whose symbols stand inside (``7.8``, ``I/O``) is a phrase where one term is enough.

    Those at an end (``C++``) the word index would lose.
    """
    return (_quote(head),) if head[0].isalnum() and head[-1].isalnum() and not is_spaceless(head) else ()


def _literal_reading(head: str, parts: list[str]) -> str | None:
    if _base_length(head) < TRIGRAM:
        return None
    return _any_of([_quote(head), *_joined_and_split(head, parts)])


def _joined_and_split(head: str, parts: list[str]) -> list[str]:
    """The further forms of a punctuated term: its parts as one word, and all of them if none is short."""
    joined = "".join(parts)
    if joined == head or _base_length(joined) < TRIGRAM:
        return []
    forms = [_quote(joined)]
    if len(parts) > 1 and all(_base_length(part) >= TRIGRAM for part in parts):
        forms.append("(" + " AND ".join(_quote(part) for part in parts) + ")")
    return forms


def _is_stop_word(text: str) -> bool:
    return text.strip().casefold() in _STOP_WORDS


def is_spaceless(text: str) -> bool:
    """Whether a text has characters of a script that writes words without blanks between them."""
    return not text.isascii() and any(low <= ord(char) <= high for char in text for low, high in _SPACELESS)


def _base_length(text: str) -> int:
    return len(text) if text.isascii() else sum(not unicodedata.combining(char) for char in text)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _any_of(forms: list[str]) -> str:
    return forms[0] if len(forms) == 1 else "(" + " OR ".join(forms) + ")"


def _literals_of_all(terms: Sequence[Term], expand: Expand) -> LiteralPlan:
    short = [term for term in terms if not term.trigrams][:COMPARED_TERMS]
    readings = [term.trigrams for term in terms if term.trigrams]
    compared = [term for term in terms if term.trigrams and term.overlong]
    for term in short:
        trigrams = _expanded(term, expand)
        if trigrams is None:
            compared.append(term)
        elif trigrams:
            readings.append(_any_of([_quote(trigram) for trigram in trigrams]))
        else:
            return LiteralPlan(None, (), (), scan_any=False)
    if readings:
        return LiteralPlan(" AND ".join(readings), _groups(compared), (), scan_any=False)
    return LiteralPlan(None, (), _groups(compared), scan_any=False)


def _literals_of_any(terms: Sequence[Term], expand: Expand) -> LiteralPlan:
    terms = _telling(terms)
    readings = [pieces for term in terms if (pieces := _pieces(term))]
    # Beside longer terms a short word ("is", "of") is left to the word index: as a substring it is noise.
    short = [term for term in terms if not term.trigrams and not (term.words and readings)]
    scanned: list[Term] = []
    for term in short[:COMPARED_TERMS]:
        trigrams = _expanded(term, expand)
        if trigrams is None:
            scanned.append(term)
        elif trigrams:
            readings.append(_any_of([_quote(trigram) for trigram in trigrams]))
    return LiteralPlan(" OR ".join(readings) or None, (), _groups(scanned), scan_any=True)


def _expanded(term: Term, expand: Expand) -> Sequence[str] | None:
    """The trigrams that begin with a short term; None when it cannot be looked up and has to be compared.

    Letters outside ASCII that have case or accents are compared: the index folds them by tables of its own.
    """
    plain = all(char.isascii() or _has_one_form(char) for char in term.literal)
    return expand(_lower_ascii(term.literal)) if plain else None


def _has_one_form(char: str) -> bool:
    return char.lower() == char.upper() and not unicodedata.combining(char)


def _pieces(term: Term) -> str | None:
    """Any three neighbouring characters of a run of words without spaces; other terms stay whole."""
    head = term.literal[:INDEXED_TERM_CHARS]
    if term.trigrams is None or not is_spaceless(head):
        return term.trigrams
    runs = dict.fromkeys(head[start : start + TRIGRAM] for start in range(len(head) - TRIGRAM + 1))
    return _any_of([_quote(run) for run in runs])


def _groups(terms: Iterable[Term]) -> Groups:
    return tuple(spellings(term.literal) for term in itertools.islice(terms, COMPARED_TERMS))
