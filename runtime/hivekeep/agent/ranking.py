"""The order of found entries, by `context-ranking-v1`: whole points for what is known of an entry, and the reasons.

Invariant: a rank follows from the task, the entry and the oldest of the candidates alone; the order of the candidates
has no influence, and no component leaves the bounds that the registry sets (gateway rules, ranking).

Pure: everything about an entry comes with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from hivekeep.agent import signals
from hivekeep_contract.gateway import (
    ACTIONABLE_REASONS,
    FEEDBACK_POINTS,
    FEEDBACK_REASONS,
    ORIGIN_REASONS,
    SCOPE_LABELS,
    SELECTION_REASONS,
    STATUS_POINTS,
    TASK_KINDS,
    TASK_TAGS,
    TRUST_POINTS,
    TRUST_REASONS,
    UNACTIONABLE_PROVENANCE,
)
from hivekeep_contract.limits import (
    RANKING_AFFINITY_POINTS,
    RANKING_CONFIDENCE_POINTS,
    RANKING_ERROR_POINTS,
    RANKING_ERROR_POINTS_MAX,
    RANKING_FEEDBACK_MAX,
    RANKING_FEEDBACK_RUNS_MAX,
    RANKING_PATH_POINTS,
    RANKING_RECENCY_MAX,
    RANKING_TAG_POINTS,
    RANKING_TAG_POINTS_MAX,
    RANKING_WORD_MIN,
)
from hivekeep_contract.models import gateway as models

_DAY_US: Final = 24 * 60 * 60 * 1_000_000
_PROVENANCE_TYPE: Final = "type"
_PIECE: Final = re.compile(r"\w+|\W")
_BREAK: Final = "\0"


class Task(NamedTuple):
    """What an entry is ranked for. `tags` are the recommended ones of the intake."""

    task_type: str | None
    target: str | None
    tags: Sequence[str] = ()
    changed_paths: Sequence[str] = ()
    error_signatures: Sequence[str] = ()


class Entry(NamedTuple):
    """A candidate. `origin` is a word of the enum gateway.origin, `updated_at` in microseconds.

    `own` says that it lives in the workspace of the run. `text` is title, summary and body where error signatures are
    looked for, and may be empty otherwise. `found_for` are the reasons of retrieval; `verdicts` count for each verdict
    the runs that gave it. `revised` says that an older revision was delivered in this run.
    """

    id: str
    origin: str
    own: bool
    kind: str
    status: str
    trust_level: str
    confidence: float
    updated_at: int
    title: str
    text: str
    tags: Sequence[str]
    scope: Mapping[str, Any]
    provenance: Mapping[str, Any]
    found_for: Collection[str] = ()
    verdicts: Mapping[str, int] = {}
    contradicted: bool = False
    revised: bool = False


class Ranked(NamedTuple):
    """An entry with its points and the reasons for them, in the order of the registry."""

    entry: Entry
    components: models.ScoreComponents
    reasons: tuple[str, ...]


_ACTIONABLE: Final = frozenset(ACTIONABLE_REASONS)
_PLACES: Final = {reason: place for place, reason in enumerate(SELECTION_REASONS)}


def rank(task: Task, entries: Sequence[Entry]) -> list[Ranked]:
    """The entries by their points, and of equal points by id."""
    oldest = min((entry.updated_at for entry in entries), default=0)
    asked = _Asked(task)
    ranked = [_ranked(asked, entry, oldest) for entry in entries]
    ranked.sort(key=lambda one: (-one.components["total"], one.entry.id))
    return ranked


def is_actionable(reasons: Collection[str], provenance: Mapping[str, Any]) -> bool:
    """Whether an entry that was selected for these reasons can be acted upon (gateway rules, actionable memory)."""
    if provenance.get(_PROVENANCE_TYPE) in UNACTIONABLE_PROVENANCE:
        return False
    return not _ACTIONABLE.isdisjoint(reasons)


class _Asked:
    """What of a task is compared with every entry, folded once."""

    def __init__(self, task: Task) -> None:
        self.kinds = frozenset(TASK_KINDS.get(task.task_type or "", ()))
        self.kind_tags = _folded(TASK_TAGS.get(task.task_type or "", ()))
        self.tags = _folded(task.tags)
        self.target = signals.words(task.target or "")
        self.paths = set().union(*map(signals.words, task.changed_paths))
        self.errors = sorted(text for text in _folded(task.error_signatures) if len(text) >= RANKING_WORD_MIN)


class _Tally:
    """The components and reasons of one entry while they are found out."""

    def __init__(self) -> None:
        self.reasons: set[str] = set()

    def points(self, points: int, reason: str | None) -> int:
        """The points, with their reason when there are any."""
        if points and reason is not None:
            self.reasons.add(reason)
        return points


def _ranked(asked: _Asked, entry: Entry, oldest: int) -> Ranked:
    tally = _Tally()
    tags = _folded(entry.tags)
    components: models.ScoreComponents = {
        "status": tally.points(STATUS_POINTS.get(entry.status, 0), entry.status),
        "trust": tally.points(TRUST_POINTS.get(entry.trust_level, 0), TRUST_REASONS.get(entry.trust_level)),
        "confidence": tally.points(_confidence(entry.confidence), "confidence"),
        "taskAffinity": _affinity(asked, entry, tags, tally),
        "recommendedTags": tally.points(_recommended(asked, tags), "recommended_tag_match"),
        "pathOverlap": _overlap(asked, entry, tally),
        "errorSignature": tally.points(_errors(asked, entry), "error_signature_match"),
        "feedback": _feedback(entry, tally),
        "recency": tally.points(min((entry.updated_at - oldest) // _DAY_US, RANKING_RECENCY_MAX), "recent"),
        "contradiction": 0,
        "total": 0,
    }
    components["total"] = sum(cast("dict[str, int]", components).values())
    reasons = tally.reasons.union(entry.found_for, _standing(entry))
    return Ranked(entry, components, tuple(sorted(reasons, key=_PLACES.__getitem__)))


def _standing(entry: Entry) -> Iterator[str]:
    """Reasons without points: where an entry comes from, and what else is to be known of it."""
    yield ORIGIN_REASONS[entry.origin]
    if entry.own:
        yield "scope_affinity"
    if entry.contradicted:
        yield "contradiction_warning"
    if entry.revised:
        yield "revision_changed"


def _confidence(confidence: float) -> int:
    """Halves are rounded up, as clients of other languages do it."""
    return int(min(max(confidence, 0.0), 1.0) * RANKING_CONFIDENCE_POINTS + 0.5)


def _affinity(asked: _Asked, entry: Entry, tags: frozenset[str], tally: _Tally) -> int:
    by_kind = tally.points(RANKING_AFFINITY_POINTS * (entry.kind in asked.kinds), "task_kind_affinity")
    by_tag = tally.points(RANKING_AFFINITY_POINTS * (not tags.isdisjoint(asked.kind_tags)), "task_tag_affinity")
    return by_kind or by_tag


def _recommended(asked: _Asked, tags: frozenset[str]) -> int:
    return min(len(tags & asked.tags) * RANKING_TAG_POINTS, RANKING_TAG_POINTS_MAX)


def _overlap(asked: _Asked, entry: Entry, tally: _Tally) -> int:
    """Points once, whether it is the target or a changed path that shares a word with the entry."""
    if not (asked.target or asked.paths):
        return 0
    words = set().union(*map(signals.words, (entry.title, *entry.tags, *_texts(entry.scope))))
    by_target = tally.points(RANKING_PATH_POINTS * (not words.isdisjoint(asked.target)), "target_match")
    by_path = tally.points(RANKING_PATH_POINTS * (not words.isdisjoint(asked.paths)), "changed_path_match")
    return by_target or by_path


def _errors(asked: _Asked, entry: Entry) -> int:
    """Points for each signature that stands in the text with no letter or digit right before or behind it."""
    if not asked.errors or not entry.text:
        return 0
    text = signals.fold(entry.text)
    held = [signature for signature in asked.errors if signature in text]
    if not held:
        return 0
    pieces = _pieces(text)
    points = RANKING_ERROR_POINTS * sum(_pieces(signature) in pieces for signature in held)
    return min(points, RANKING_ERROR_POINTS_MAX)


def _pieces(text: str) -> str:
    """The words of a text and what stands between them, each between two breaks that no text has.

    One text stands in another one at the edges of words when its pieces do, which is found out in one search: a text
    of one letter alone holds a signature of that letter at every place, and nowhere as a word.
    """
    return _BREAK + _BREAK.join(_PIECE.findall(text)) + _BREAK


def _feedback(entry: Entry, tally: _Tally) -> int:
    """A weak signal: of each verdict at most two runs count, and all together no more than a few points."""
    total = 0
    for verdict, runs in entry.verdicts.items():
        points = FEEDBACK_POINTS[verdict] * min(runs, RANKING_FEEDBACK_RUNS_MAX)
        total += tally.points(points, FEEDBACK_REASONS[verdict])
    return max(-RANKING_FEEDBACK_MAX, min(total, RANKING_FEEDBACK_MAX))


def _folded(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(signals.fold, texts)))


def _texts(scope: object) -> Iterator[str]:
    """The strings of a scope but for its labels, which say nothing about what an entry is about."""
    if isinstance(scope, str):
        yield scope
    elif isinstance(scope, Mapping):
        for name, value in scope.items():
            if name not in SCOPE_LABELS:
                yield from _texts(value)
    elif isinstance(scope, (list, tuple)):
        for value in scope:
            yield from _texts(value)
