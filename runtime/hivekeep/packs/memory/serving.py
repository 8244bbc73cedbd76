"""Which tuning profile serves a recall, and what the recall leaves behind for it.

Invariant: without the pack brain, or without a profile, the defaults serve. What is left behind is written after the
answer and never changes it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hivekeep.packs.context import MAIN, Context
from hivekeep.packs.memory.scoring import DEFAULT_WEIGHTS, Weights
from hivekeep.tuning import passive, serving
from hivekeep.tuning.serving import Served
from hivekeep_contract.errors import Unsupported
from hivekeep_contract.models.memory import ServeAttribution
from hivekeep_contract.vocabulary import CONSUMER_KINDS

BRAIN = "brain"
CONSUMER = CONSUMER_KINDS["memory"][0]
"""How the brain calls the recalls of this pack."""


class Serving(NamedTuple):
    """What tunes a recall; `served` is the same as the brain counts it."""

    profile_id: str | None
    attribution: ServeAttribution
    weights: Weights
    served: Served

    def means(self, memory_ids: Sequence[str]) -> Mapping[str, float | None]:
        """What feedback says of memories, None for one without any; asks the snapshot that the profile was read on."""
        return self.served.entity_mean.look_up(memory_ids)


def serve(ctx: Context, profile_id: str | None = None) -> Serving:
    """The profile that the call names, else the one bound to the caller, else the defaults.

    Raises NotFound for a profile that does not exist, Unsupported for one without the pack brain.
    """
    if not ctx.loaded(BRAIN):
        if profile_id is not None:
            raise Unsupported(f"{ctx.verb}: 'profile_id' needs the pack {BRAIN}, which is not loaded")
        return Serving(None, "unspecified", DEFAULT_WEIGHTS, serving.defaults())
    served = serving.resolve(ctx.tx, ctx.caller, ctx.namespace, CONSUMER, ctx.now_us, profile_id)
    weights = Weights(served.relevance, served.salience, served.temporal)
    return Serving(served.profile_id, served.attribution, weights, served)


def leave_behind(
    ctx: Context, query: str, memory_ids: Sequence[str], tuned: Serving, latency_us: int
) -> tuple[str, ...]:
    """Have the brain remember what was served, and this process whether anything was found, and how fast.

    Answers the ids under which a scorer can grade the memories, in their order; none without the brain.
    """
    top_id = memory_ids[0] if memory_ids else None
    passive.observe_recall(ctx.engines[MAIN], ctx.namespace, tuned.served, latency_us, top_id)
    if not memory_ids or not ctx.loaded(BRAIN):
        return ()
    note = serving.ledger_rows(tuned.served, ctx.namespace, CONSUMER, query, memory_ids, ctx.now_us)
    ctx.defer(note.__call__)
    return note.ids


def judge(ctx: Context, target_id: str, signal: str) -> None:
    """Let feedback that no profile takes count in this process."""
    passive.observe_feedback(ctx.engines[MAIN], ctx.namespace, signal, target_id)
