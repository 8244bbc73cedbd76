"""BM25 of word hits by the statistics of the scope that is searched, instead of those of the whole index.

Keeps true: the score of a hit depends on the records of its scope and on nothing that other namespaces hold. FTS5's own
`bm25` counts a word over everything: the name of somebody who talks in every memory of one namespace, and in no other,
would count as rare there, and a score would tell what other namespaces are about (ADR 0035).

`word_facts` is what SQL computes for each hit; `ranked` makes scores of all hits of a query.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import fsum, log
from typing import TYPE_CHECKING, Final, NamedTuple

from hivekeep_contract.limits import TEXT_WEIGHTS

if TYPE_CHECKING:
    import apsw

WORD_FACTS: Final = "word_facts"
"""The SQL function's name."""

# The constants of FTS5's bm25, section 4.3.1 of its documentation: k1, b, and the idf of a word that most texts have.
_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.75
_LEAST_IDF: Final = 1e-6

_FLOATS: Final = "d"
_TITLE: Final[float] = TEXT_WEIGHTS["title"]
_BODY: Final[float] = TEXT_WEIGHTS["body"]


class WordHit(NamedTuple):
    """A text that has at least one phrase of a query; a larger score is better."""

    score: float
    place: int


def phrases(match: str) -> int:
    """How many quoted phrases a MATCH expression has; a doubled quote inside one counts as one more."""
    return match.count('"') // 2


def word_facts(api: apsw.FTS5ExtensionApi) -> bytes:
    """Of one hit: its length in words, then for each phrase of the query how often it has it, by weight of column.

    For an index of a title and a body; as 64-bit floats.
    """
    facts: list[float] = [api.column_size()]
    where = api.phrase_locations
    for phrase in range(api.phrase_count):
        title, body = where(phrase)
        facts.append(_TITLE * len(title) + _BODY * len(body))
    return array(_FLOATS, facts).tobytes()


def ranked(hits: Sequence[tuple[int, bytes]], records: int) -> list[WordHit]:
    """All hits of a query in a scope of so many records, given as (place, facts): best first, those alike by place.

    Texts are as long as those that were found are on average.
    """
    if not hits:
        return []
    places, facts = zip(*hits, strict=True)
    lengths, *phrases = zip(*(array(_FLOATS, told) for told in facts), strict=True)
    longer = _SATURATION * _LENGTH_SHARE * len(lengths) / fsum(lengths)
    slack = [_SATURATION * (1 - _LENGTH_SHARE) + longer * length for length in lengths]
    scores = [0.0] * len(hits)
    for often in phrases:
        weight = (_SATURATION + 1) * _idf(records, len(often) - often.count(0.0))
        gained = [count / (count + more) for count, more in zip(often, slack, strict=True)]
        scores = [score + weight * gain for score, gain in zip(scores, gained, strict=True)]
    return sorted(map(WordHit, scores, places), key=_best_first)


def _idf(records: int, having: int) -> float:
    return max(log((max(records, having) - having + 0.5) / (having + 0.5)), _LEAST_IDF)


def _best_first(hit: WordHit) -> tuple[float, int]:
    return -hit.score, hit.place
