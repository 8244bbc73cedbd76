"""The context broker: ranks the memory for a question once and freezes everything that the result relies on.

Invariant: ranking only reads. A candidate holds the exact revisions it was made of, the state of their entries, of the
run and of its earlier deliveries, so that `delivery.deliver` can tell whether all of it still holds; nobody ranks a
second time (gateway rules, context broker).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from hivekeep.agent import ranking, retrieval, signals
from hivekeep.agent.canonical import digest
from hivekeep.agent.ranking import Entry, Ranked
from hivekeep.agent.retrieval import Hit, Hits
from hivekeep.storage import agent_deliveries, agent_feedback, agent_retrieval, agent_workspaces
from hivekeep.storage.agent_deliveries import DeliveryRow, ItemRow
from hivekeep.storage.agent_retrieval import EntryState, RankedRow, RevisionText
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load, load_object, load_tags
from hivekeep_contract.gateway import APPLICABILITY_FIELDS, ERROR_SIGNATURE_KINDS, FEEDBACK_REASONS
from hivekeep_contract.limits import (
    CONTEXT_BUDGET_CHARS,
    CONTEXT_ITEMS,
    CONTEXT_POLICY,
    DELIVERY_ID_PREFIX,
    ENTRY_SCOPE_DEPTH_MAX,
    GLOBAL_WORKSPACE,
    RANKING_CANDIDATES_MAX,
    RANKING_TAGS_MAX,
)
from hivekeep_contract.models import gateway as models

_HELPFUL: Final = "helpful"


class Query(NamedTuple):
    """What context is asked for.

    `profile` is the projected one, `tags` are those that the intake recommended. `budget` counts characters of titles,
    summaries and bodies.
    """

    run: RunRow
    session_id: str
    profile: models.TaskProfile
    tags: Sequence[str]
    changed_paths: Sequence[str] = ()
    error_signatures: Sequence[str] = ()
    budget: int = CONTEXT_BUDGET_CHARS
    limit: int = CONTEXT_ITEMS


class Item(NamedTuple):
    """One entry of a candidate: as it was when it was ranked, and what is shown of it."""

    state: EntryState
    origin: models.Origin
    components: models.ScoreComponents
    reasons: tuple[str, ...]
    content: models.ContextContent
    actionable: bool


class Candidate(NamedTuple):
    """A ranked snapshot that nobody has seen yet.

    `workspaces` are those that were searched, `history_hash` stands for the deliveries before. `truncated` says that
    the budget cut something off. `stored` says that this question was answered before and that the answer still holds:
    delivering it writes nothing.
    """

    run: RunRow
    session_id: str
    profile_hash: str
    query_hash: str
    history_hash: str
    workspaces: tuple[str, ...]
    budget: int
    items: tuple[Item, ...]
    truncated: bool
    stored: bool

    @property
    def actionable(self) -> bool:
        """Whether it holds memory that can be acted upon (gateway rules, actionable memory)."""
        return any(item.actionable for item in self.items)

    @property
    def delivery_id(self) -> str:
        """The id of its delivery: it names the question and the deliveries before."""
        return delivery_id(self.query_hash, self.history_hash)


def rank(tx: Tx, query: Query) -> Candidate:
    """The candidate for a question; the answer to an equal question again when each of its revisions still holds."""
    frozen = _freeze(tx, query)
    answered = agent_deliveries.newest(tx, query.run.seq, frozen.query_hash)
    again = None if answered is None else _again(tx, query, frozen, answered)
    if again is not None:
        return again
    ranked = _ranked(tx, query, frozen)[: query.limit]
    items = tuple(_filled(tx, ranked, query.budget))
    if answered is not None and not items and answered.character_count == 0:
        # Nothing then and nothing now is one answer, however often the question is repeated.
        return _candidate(query, frozen._replace(history_hash=answered.history_hash), (), stored=True)
    return _candidate(query, frozen, items, left_out=len(ranked) - len(items))


def workspaces(tx: Tx, run: RunRow) -> tuple[str, ...]:
    """Where a run looks: in its workspace, and beside a known project in the global one."""
    if run.workspace != GLOBAL_WORKSPACE and agent_workspaces.is_project(tx, run.workspace):
        return (run.workspace, GLOBAL_WORKSPACE)
    return (run.workspace,)


def history_hash(newest_id: str | None) -> str:
    """The hash of the deliveries that a run had: the id of the newest one names all before it."""
    return digest({"newest": newest_id})


def delivery_id(query_hash: str, history: str) -> str:
    """The id of the delivery that answers a question on a history (gateway rules, delivery)."""
    return DELIVERY_ID_PREFIX + digest({"queryHash": query_hash, "history": history})


class _Frozen(NamedTuple):
    """What a question is, and what it is asked on. `verdicts` are the last ones of the run, by entry."""

    profile_hash: str
    query_hash: str
    history_hash: str
    workspaces: tuple[str, ...]
    verdicts: Mapping[str, str]


def _freeze(tx: Tx, query: Query) -> _Frozen:
    run = query.run
    searched = workspaces(tx, run)
    verdicts = agent_feedback.last_verdicts(tx, run.seq)
    asked = {
        "runId": run.id,
        "task": run.title,
        "profile": query.profile,
        "tags": sorted(query.tags),
        "changedPaths": list(query.changed_paths),
        "errorSignatures": list(query.error_signatures),
        "throughSequence": run.last_sequence,
        "characterBudget": query.budget,
        "limit": query.limit,
        "policyVersion": CONTEXT_POLICY,
        "workspaces": list(searched),
        "verdicts": verdicts,
    }
    history = history_hash(agent_deliveries.newest_id(tx, run.seq))
    return _Frozen(digest(query.profile), digest(asked), history, searched, verdicts)


def _candidate(
    query: Query, frozen: _Frozen, items: tuple[Item, ...], *, left_out: int = 0, stored: bool = False
) -> Candidate:
    return Candidate(
        run=query.run,
        session_id=query.session_id,
        profile_hash=frozen.profile_hash,
        query_hash=frozen.query_hash,
        history_hash=frozen.history_hash,
        workspaces=frozen.workspaces,
        budget=query.budget,
        items=items,
        truncated=left_out > 0 or any(item.content["truncated"] for item in items),
        stored=stored,
    )


# an answer that still holds


def _again(tx: Tx, query: Query, frozen: _Frozen, row: DeliveryRow) -> Candidate | None:
    """The delivery that answered this very question, unless something of it no longer holds.

    One without items attests to nothing, so the question is asked anew.
    """
    if row.id != delivery_id(row.query_hash, row.history_hash):
        return None
    items = agent_deliveries.items(tx, row.seq)
    states = agent_retrieval.states(tx, [item.entry_id for item in items])
    if not items or any(not _holds(item, states.get(item.entry_id), frozen) for item in items):
        return None
    exact = [(item.entry_id, item.revision) for item in items]
    verdicts = agent_feedback.verdicts(tx, exact)
    told = [_told_again(tx, item, states[item.entry_id], verdicts.get(item.entry_id, {})) for item in items]
    filled = tuple(_filled(tx, told, row.character_budget))
    return _candidate(query, frozen._replace(history_hash=row.history_hash), filled, stored=True)


def _holds(item: ItemRow, state: EntryState | None, frozen: _Frozen) -> bool:
    return state is not None and state.revision == item.revision and state.workspace in frozen.workspaces


class _Chosen(NamedTuple):
    """An entry that is to be shown, as long as the budget lasts."""

    state: EntryState
    origin: models.Origin
    components: models.ScoreComponents
    reasons: tuple[str, ...]
    actionable: bool


def _told_again(tx: Tx, item: ItemRow, state: EntryState, verdicts: Mapping[str, int]) -> _Chosen:
    reasons = tuple(load(item.selection_reasons))
    judged = (*reasons, *(FEEDBACK_REASONS[verdict] for verdict in verdicts))
    provenance = load_object(agent_retrieval.provenance(tx, state.seq, state.revision))
    return _Chosen(
        state=state,
        origin=cast("models.Origin", item.origin),
        components=cast("models.ScoreComponents", load_object(item.score_components)),
        reasons=reasons,
        actionable=ranking.is_actionable(judged, provenance),
    )


# ranking


class _Material(NamedTuple):
    """What was found, and what is known of it beside the entries."""

    hits: Hits
    before: Mapping[str, int]
    verdicts: Mapping[str, Mapping[str, int]]
    contradicted: Collection[int]


def _ranked(tx: Tx, query: Query, frozen: _Frozen) -> list[_Chosen]:
    """The entries that the question is about, best first, without those that this run was given already."""
    before = agent_deliveries.delivered_before(tx, query.run.seq, query.run.last_sequence)
    hits = _search(tx, query, frozen, RANKING_CANDIDATES_MAX + len(before))
    fresh = _fresh(tx, hits, before, frozen)[:RANKING_CANDIDATES_MAX]
    states = [row.state for _, row in fresh]
    material = _Material(
        hits=hits,
        before=before,
        verdicts=agent_feedback.verdicts(tx, [(state.id, state.revision) for state in states]),
        contradicted=agent_retrieval.contradicted(tx, [state.seq for state in states]),
    )
    task = ranking.Task(
        query.profile["taskType"], query.profile["target"], query.tags, query.changed_paths, query.error_signatures
    )
    by_id = {state.id: state for state in states}
    ranked = ranking.rank(task, [_entry(tx, query, material, hit, row) for hit, row in fresh])
    return [_chosen(by_id[one.entry.id], one) for one in ranked]


def _search(tx: Tx, query: Query, frozen: _Frozen, limit: int) -> Hits:
    """The parts of the task together and alone; what was changed and what went wrong beside it."""
    said = (query.run.title, query.profile["target"], query.profile["expected"], *query.tags)
    changed = sorted(set().union(*map(signals.words, query.changed_paths)))
    return retrieval.search(
        tx,
        frozen.workspaces,
        [part for part in said if part],
        beside=["\n".join(query.error_signatures), " ".join(changed)],
        values=(*query.error_signatures, *query.changed_paths),
        limit=limit,
    )


def _fresh(tx: Tx, hits: Hits, before: Mapping[str, int], frozen: _Frozen) -> list[tuple[Hit, RankedRow]]:
    """What was found and may be ranked: within bounds, and not delivered before."""
    rows = {row.state.seq: row for row in agent_retrieval.ranked_rows(tx, [hit.entry.seq for hit in hits.hits])}
    found = [(hit, rows[hit.entry.seq]) for hit in hits.hits if hit.entry.seq in rows]
    return [(hit, row) for hit, row in found if _may_be_ranked(row) and not _suppressed(row.state, before, frozen)]


def _may_be_ranked(row: RankedRow) -> bool:
    if len(load_tags(row.tags)) > RANKING_TAGS_MAX:
        return False
    return _depth(load_object(row.scope)) <= ENTRY_SCOPE_DEPTH_MAX


def _depth(value: object) -> int:
    """Levels of arrays and objects, the outermost one counted."""
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _suppressed(state: EntryState, before: Mapping[str, int], frozen: _Frozen) -> bool:
    """Whether this run had the entry at this or a newer revision already and did not find it helpful."""
    delivered = before.get(state.id)
    return delivered is not None and delivered >= state.revision and frozen.verdicts.get(state.id) != _HELPFUL


def _entry(tx: Tx, query: Query, material: _Material, hit: Hit, row: RankedRow) -> Entry:
    state = row.state
    origin = _origin(state)
    scope = load_object(row.scope)
    return Entry(
        id=state.id,
        origin=origin,
        own=state.workspace == query.run.workspace,
        kind=row.kind,
        status=state.status,
        trust_level=state.trust_level,
        confidence=state.confidence,
        updated_at=state.updated_at,
        title=row.title,
        text=_searched_text(tx, query, row),
        tags=load_tags(row.tags),
        scope=scope,
        provenance=load_object(row.provenance),
        found_for=hit.reasons.union(_applicability(material.hits, hit, scope, origin)),
        verdicts=material.verdicts.get(state.id, {}),
        contradicted=state.seq in material.contradicted,
        revised=material.before.get(state.id, state.revision) < state.revision,
    )


def _origin(state: EntryState) -> models.Origin:
    if state.source_id is not None:
        return "ecosystem"
    return "global" if state.workspace == GLOBAL_WORKSPACE else "project"


def _applicability(hits: Hits, hit: Hit, scope: Mapping[str, Any], origin: models.Origin) -> Iterable[str]:
    """Whether the question is about what an entry applies to; it mismatches when it names others of the same sort."""
    fields = {field for field, _ in signals.of_scope(scope) if field in APPLICABILITY_FIELDS}
    if not fields:
        return ("unscoped_global_prior",) if origin == "global" else ()
    if hit.applies:
        return ("applicability_match",)
    return ("applicability_mismatch",) if fields & hits.asked else ("applicability_unknown",)


def _searched_text(tx: Tx, query: Query, row: RankedRow) -> str:
    """The text in which error signatures are looked for; empty where they are not."""
    if not query.error_signatures or row.kind not in ERROR_SIGNATURE_KINDS:
        return ""
    return "\n".join(filter(None, _text(tx, row.state)))


def _chosen(state: EntryState, one: Ranked) -> _Chosen:
    actionable = ranking.is_actionable(one.reasons, one.entry.provenance)
    return _Chosen(state, cast("models.Origin", one.entry.origin), one.components, one.reasons, actionable)


# content


def _filled(tx: Tx, chosen: Iterable[_Chosen], budget: int) -> Iterator[Item]:
    """The entries in their order with as much of their texts as the budget lasts; the one that crosses it is cut."""
    left = budget
    for one in chosen:
        if left <= 0:
            return
        content = fitted(_text(tx, one.state), left)
        left -= content["characterCount"]
        yield Item(one.state, one.origin, one.components, one.reasons, content, one.actionable)


def fitted(text: RevisionText, left: int) -> models.ContextContent:
    """At most that many characters of the title, then of the summary, then of the body."""
    title = text.title[:left]
    summary = text.summary[: left - len(title)] if text.summary else ""
    body = text.body[: left - len(title) - len(summary)]
    shown = len(title) + len(summary) + len(body)
    return {
        "title": title,
        "summary": summary or None,
        "bodyPreview": body,
        "characterCount": shown,
        "truncated": shown < len(text.title) + len(text.summary or "") + len(text.body),
    }


def _text(tx: Tx, state: EntryState) -> RevisionText:
    """The text of a revision, which never changes; empty when its entry was purged since the state was read."""
    return agent_retrieval.revision_text(tx, state.seq, state.revision) or RevisionText("", None, "")
