"""Finding the entries that a question may be about: five lanes, fused.

Invariant: what is found depends on the texts asked and on the retrievable entries of the workspaces asked, and on
nothing else. No text is an operator: a term is quoted, a key is an argument. A text that is a database statement and
names nothing finds nothing (gateway rules, retrieval).

Each distinct term is looked up once, however many of the texts hold it, and at most the newest entries that have it are
read. Within a lane an entry counts by the terms that it has; one that few entries of the workspaces have counts more.
Terms that no index may hold are few, whether an index does or not: what others store must not decide about an answer.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from hivekeep.agent import signals
from hivekeep.search import lexical
from hivekeep.search.lexical import Term
from hivekeep.storage import agent_retrieval
from hivekeep.storage.agent_retrieval import Found
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import (
    APPLICABILITY_FIELDS,
    LANE_REASONS,
    LANE_WEIGHTS,
    SIGNAL_FIELDS,
    STATUS_POINTS,
    TRUST_POINTS,
)
from hivekeep_contract.limits import (
    LEXICAL_MATCH_WORDS,
    RETRIEVAL_HITS_MAX,
    RETRIEVAL_LANE_MAX,
    RETRIEVAL_MERGED_MAX,
    RETRIEVAL_PART_MAX,
    RETRIEVAL_POSTINGS_MAX,
    RETRIEVAL_RANK_OFFSET,
    RETRIEVAL_SHORT_TERMS_MAX,
    RETRIEVAL_TEXT_MAX,
)

_ALL_SIGNALS: Final = (*SIGNAL_FIELDS, *APPLICABILITY_FIELDS)


class Hit(NamedTuple):
    """A found entry; `reasons` are selection reasons, `applies` the fields in which its applicability was named."""

    entry: Found
    score: float
    reasons: frozenset[str]
    applies: frozenset[str]


class Hits(NamedTuple):
    """What a question found, best first. `asked` are the fields of applicability of which it names a value."""

    hits: list[Hit]
    asked: frozenset[str]


_Merit = tuple[int, int, float, int, str]

Points = dict[int, int]
"""Points of entries within a lane, by `seq`."""


@dataclass(slots=True)
class _Collected:
    """What several texts found together."""

    scores: dict[int, float] = field(default_factory=dict)
    reasons: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))


def search(
    tx: Tx,
    workspaces: Sequence[str],
    parts: Sequence[str],
    *,
    beside: Sequence[str] = (),
    values: Sequence[str] = (),
    limit: int,
) -> Hits:
    """The entries that the parts of a task find, together and each alone, and that have one of the values.

    Texts `beside` the task are searched for alone. `values` are paths, error signatures and the like, which are only
    looked up exactly. An entry that several texts find has the best of its scores and the reasons of all of them.
    """
    whole = "\n".join(parts)[:RETRIEVAL_TEXT_MAX]
    texts = dict.fromkeys((whole, *(part[:RETRIEVAL_PART_MAX] for part in (*parts, *beside))))
    asked = _Postings(tx, workspaces)
    together = _Collected()
    for text in texts:
        if text.strip() and not signals.looks_like_sql(text):
            _one_text(asked, text, signals.keys([text]), together)
    if values:
        exact = asked.exact(signals.keys((), values))
        _fuse(asked, {"exact_signal": exact}, together)
    hits = [
        Hit(asked.entries[seq], score, frozenset(together.reasons[seq]), frozenset(asked.applies[seq]))
        for seq, score in together.scores.items()
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.entry.id))
    return Hits(hits[:limit], frozenset(name for names in asked.applies.values() for name in names))


class _Postings:
    """The entries of the terms and keys of one question, each read once from the workspaces."""

    def __init__(self, tx: Tx, workspaces: Sequence[str]) -> None:
        self._tx = tx
        self._workspaces = workspaces
        self._read: dict[tuple[str, str], list[int]] = {}
        self._short_terms: set[str] = set()
        self._merits: dict[int, _Merit] = {}
        self.entries: dict[int, Found] = {}
        self.applies: dict[int, set[str]] = defaultdict(set)

    def merits(self, seqs: Iterable[int]) -> dict[int, _Merit]:
        """What orders the entries beside their points, read once; one that went meanwhile is left out."""
        new = [seq for seq in seqs if seq not in self.entries]
        for entry in agent_retrieval.found(self._tx, new) if new else ():
            self.entries[entry.seq] = entry
            self._merits[entry.seq] = _merit(entry)
        return self._merits

    def word(self, term: Term) -> list[int]:
        """Entries that have a term as a word."""
        match = " OR ".join(term.loose) or term.words
        return self._once("word", match, partial(self._match, agent_retrieval.words)) if match else []

    def trigram(self, term: Term) -> list[int]:
        """Entries that have the characters of a term, or of a text without blanks some of them in a row."""
        match = self._plan(term).match if term.trigrams else None
        return self._once("trigram", match, partial(self._match, agent_retrieval.trigrams)) if match else []

    def like(self, term: Term) -> list[int]:
        """Entries that hold a term which is shorter than what an index holds, and no word.

        It is one lane whether the trigrams that begin with the term are looked up or, when there are too many of
        them, entries are compared: which of the two depends on what other workspaces hold.
        """
        if term.trigrams or term.words or not self._admits(term.literal):
            return []
        return self._once("like", term.literal, partial(self._short, term))

    def _admits(self, short: str) -> bool:
        """Whether a short term is among the first ones of the question."""
        if len(self._short_terms) < RETRIEVAL_SHORT_TERMS_MAX:
            self._short_terms.add(short)
        return short in self._short_terms

    def tag(self, keys: Sequence[str]) -> Points:
        """How many of the keys are tags of an entry."""
        self._read_keys("tag", keys, self._tagged)
        return _counted(self._read["tag", key] for key in keys)

    def exact(self, keys: Sequence[str]) -> Points:
        """How many of the keys are signals of an entry, in whatever field."""
        self._read_keys("exact_signal", keys, self._signalled)
        return _counted(self._read["exact_signal", key] for key in keys)

    def _read_keys(self, lane: str, keys: Sequence[str], read: Callable[[str, list[str]], None]) -> None:
        new = [key for key in keys if (lane, key) not in self._read]
        self._read.update({(lane, key): [] for key in new})
        for space in self._workspaces if new else ():
            read(space, new)

    def _once(self, lane: str, what: str, read: Callable[[str], list[int]]) -> list[int]:
        found = self._read.get((lane, what))
        if found is None:
            found = self._read[lane, what] = read(what)
        return found

    def _match(self, lane: Callable[[Tx, str, str], list[int]], match: str) -> list[int]:
        return [seq for space in self._workspaces for seq in lane(self._tx, space, match)]

    def _short(self, term: Term, _: str) -> list[int]:
        plan = self._plan(term)
        if plan.match:
            return self._match(agent_retrieval.trigrams, plan.match)
        spellings = [spelling for group in plan.scan for spelling in group]
        return [
            seq
            for space in (self._workspaces if spellings else ())
            for seq in agent_retrieval.holding(self._tx, space, spellings)
        ]

    def _tagged(self, space: str, keys: list[str]) -> None:
        for key in agent_retrieval.present_tags(self._tx, space, keys):
            self._read["tag", key] += agent_retrieval.tagged(self._tx, space, key)

    def _signalled(self, space: str, keys: list[str]) -> None:
        for name, key in agent_retrieval.present_signals(self._tx, space, _ALL_SIGNALS, keys):
            seqs = agent_retrieval.signalled(self._tx, space, name, key)
            known = self._read["exact_signal", key]
            known += set(seqs).difference(known)
            for seq in seqs if name in APPLICABILITY_FIELDS else ():
                self.applies[seq].add(name)

    def _plan(self, term: Term) -> lexical.LiteralPlan:
        return lexical.plan_literals([term], "any_term", partial(agent_retrieval.trigrams_from, self._tx))


def _one_text(asked: _Postings, text: str, keys: Sequence[str], together: _Collected) -> None:
    """Search for one text in all lanes, and add what it finds."""
    terms = signals.terms(text)
    by_word = {term.literal: asked.word(term) for term in terms}
    by_trigram = {term.literal: asked.trigram(term) for term in terms}
    by_like = {term.literal: asked.like(term) for term in terms}
    lanes = {
        "exact_signal": asked.exact(keys),
        "tag": asked.tag(keys),
        "trigram": _weighed(by_trigram.values()),
        "word": _weighed(by_word.values()),
        "like": _weighed(by_like.values()),
    }
    kept = _fuse(asked, lanes, together)
    for seq, count in _counted(by_word.values()).items():
        if count >= LEXICAL_MATCH_WORDS and seq in kept:
            together.reasons[seq].add("lexical_match")
    for term in terms:
        if not term.words and lexical.is_spaceless(term.literal):
            for seq in kept.intersection(by_trigram[term.literal] or by_like[term.literal]):
                together.reasons[seq].add("cjk_window_match")


def _fuse(asked: _Postings, lanes: Mapping[str, Points], together: _Collected) -> set[int]:
    """Add the best of each lane, and answer them: an entry gets the weight of a lane by its rank in it."""
    scores: dict[int, float] = defaultdict(float)
    reasons: dict[int, set[str]] = defaultdict(set)
    merits = asked.merits(set().union(*lanes.values()))
    for lane, points in lanes.items():
        ordered = [(-count, merits[seq], seq) for seq, count in points.items() if seq in merits]
        for rank, (_, _, seq) in enumerate(heapq.nsmallest(RETRIEVAL_LANE_MAX, ordered), 1):
            scores[seq] += LANE_WEIGHTS[lane] / (RETRIEVAL_RANK_OFFSET + rank)
            reasons[seq].add(LANE_REASONS[lane])
    merged = sorted(scores, key=lambda seq: (-scores[seq], asked.entries[seq].id))[:RETRIEVAL_MERGED_MAX]
    kept = merged[:RETRIEVAL_HITS_MAX]
    for seq in kept:
        together.scores[seq] = max(scores[seq], together.scores.get(seq, 0.0))
        together.reasons[seq] |= reasons[seq]
    return set(kept)


def _merit(entry: Found) -> _Merit:
    """The order of entries with equal points: verified, trusted, sure, newest (gateway rules, retrieval)."""
    return (
        -STATUS_POINTS.get(entry.status, 0),
        -TRUST_POINTS.get(entry.trust_level, 0),
        -entry.confidence,
        -entry.updated_at,
        entry.id,
    )


def _weighed(postings: Iterable[Sequence[int]]) -> Points:
    """Points by the terms that an entry has: one for a term that fills its list, more the fewer entries have it."""
    points: Points = defaultdict(int)
    for seqs in postings:
        weight = (RETRIEVAL_POSTINGS_MAX // max(len(seqs), 1)).bit_length()
        for seq in seqs:
            points[seq] += max(weight, 1)
    return points


def _counted(postings: Iterable[Sequence[int]]) -> Points:
    points: Points = defaultdict(int)
    for seqs in postings:
        for seq in seqs:
            points[seq] += 1
    return points
