"""What recall answers: hits of the contract's shape, the budget of their content, and what is told beside them.

Invariant: what is left out for its size is said in the answer, what is left out for any other reason beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from hivekeep.packs.memory.scoring import Facts, Scored
from hivekeep.storage.memories import MemoryRow
from hivekeep.times import iso
from hivekeep_contract.limits import RECALL_CONTENT_BYTES, RECALL_SHORT_CHARS
from hivekeep_contract.models import memory as models
from hivekeep_contract.request import ADVISORIES

ANN_UNAVAILABLE: Final = "ann_unavailable"
FILTERED: Final = "recall_filtered"
SEVERAL_MODELS: Final = 2
ELLIPSIS: Final = "…"


class Counts(NamedTuple):
    """How many candidates there were, how many were left out for what, and how many memories wait for their vector."""

    candidates: int
    below_floor: int
    superseded: int
    other_scope: int
    pending: int = 0


class Fitted(NamedTuple):
    """The hits that fit into an answer, their content as it is shown, and how many more there were."""

    scored: list[Scored]
    left_out: int


def fit(scored: Sequence[Scored], full_content: bool) -> Fitted:
    """The first hits whose content fits together; the first that does not ends them."""
    kept: list[Scored] = []
    left = RECALL_CONTENT_BYTES
    for one in scored:
        shown = one if full_content else one._replace(content=_short(one.content))
        left -= len(shown.content.encode())
        if left < 0:
            break
        kept.append(shown)
    return Fitted(kept, len(scored) - len(kept))


def _short(content: str) -> str:
    return content if len(content) <= RECALL_SHORT_CHARS else content[:RECALL_SHORT_CHARS] + ELLIPSIS


def hit(one: Scored, row: MemoryRow, facts: Facts, similarity: float | None) -> models.Recalled:
    """A memory as the answer shows it; without a profile until `serve_attribution` says otherwise."""
    score = one.rank_score if similarity is None else similarity
    return {
        "id": one.id,
        "full_id": one.id,
        "score": min(max(score, 0.0), 1.0),
        "rank_score": one.rank_score,
        "raw_score": similarity,
        "content": one.content,
        "salience": facts.salience,
        "decay_factor": facts.decay_factor,
        "memory_type": cast("models.MemoryType", row.memory_type),
        "created_at": iso(row.created_at),
        "serve_attribution": "unspecified",
    }


def whole(
    hits: list[models.Recalled],
    shown: Fitted,
    degraded: str | None,
    by_model: Mapping[str, Sequence[tuple[str, float]]],
) -> models.RecallResult:
    """The array, or the object where something has to be said that no hit can say."""
    if len(by_model) >= SEVERAL_MODELS:
        return {
            "results": hits,
            "candidates": {"vector_candidates_per_model": [_of_model(*one) for one in by_model.items()]},
            "budget_capped": shown.left_out > 0,
            "truncated_for_budget": shown.left_out,
        }
    if not hits and shown.left_out:
        return {"results": [], "budget_capped": True, "truncated_for_budget": shown.left_out}
    if not hits and degraded is not None:
        return {"results": [], "degraded": True, "degraded_reason": degraded}
    return hits


def _of_model(model: str, found: Sequence[tuple[str, float]]) -> models.ModelHits:
    hits: list[models.LegHit] = [
        {"id": record_id, "score": score, "rank": rank} for rank, (record_id, score) in enumerate(found, start=1)
    ]
    return {"model": model, "hits": hits}


def advisory(counts: Counts) -> dict[str, Any]:
    """What was left out, to stand beside the result."""
    return {**ADVISORIES[FILTERED], **counts._asdict()}
