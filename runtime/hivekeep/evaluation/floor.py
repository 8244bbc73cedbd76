"""Plain full-text search over the same texts: the figures that every other row of a report has to beat.

What it keeps true: it is what anyone has with SQLite and nothing else: one FTS5 table of porter stems for each space,
the query's words without stop words joined by OR, bm25 with its defaults.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

import apsw

from hivekeep.evaluation.datasets import Item, Question
from hivekeep.evaluation.store import Answer
from hivekeep_contract.limits import STOP_WORDS

_STOPS = frozenset(STOP_WORDS)
_WORD = re.compile(r"\w+")
_TABLE = "CREATE VIRTUAL TABLE texts USING fts5(title, body, tokenize = 'porter unicode61 remove_diacritics 2')"
_ADD = "INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)"
_ASK = "SELECT rowid, -rank FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"


class Floor:
    """An index in memory for each space."""

    def __init__(self, spaces: Mapping[str, Sequence[Item]]) -> None:
        self._spaces = spaces
        self._indexes = {space: _index(items) for space, items in spaces.items()}

    def answer(self, question: Question, limit: int) -> Answer:
        """The best items of the question's space."""
        began = time.perf_counter()
        hits = self._hits(question.space, question.text, limit)
        return Answer(hits, (time.perf_counter() - began) * 1000)

    def _hits(self, space: str, text: str, limit: int) -> list[tuple[str, float]]:
        words = list(dict.fromkeys(_WORD.findall(text.lower())))
        telling = [word for word in words if word not in _STOPS] or words
        if not telling:
            return []
        match = " OR ".join(f'"{word}"' for word in telling)
        items = self._spaces[space]
        return [(items[row].id, score) for row, score in self._indexes[space].execute(_ASK, (match, limit))]


def _index(items: Sequence[Item]) -> apsw.Connection:
    index = apsw.Connection(":memory:")
    index.execute(_TABLE)
    with index:
        index.executemany(_ADD, [(row, item.title or "", item.text) for row, item in enumerate(items)])
    return index
