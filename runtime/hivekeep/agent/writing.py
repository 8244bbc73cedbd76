"""One mutation for one key: the transaction that every write of the gateway goes through.

Invariant: the mutation, its acknowledgement and its audit row are committed together or not at all, and a key that
was used is only ever answered with what was stored for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Work, Write
from hivekeep.storage import agent_idempotency, agent_runs
from hivekeep.storage.agent_idempotency import StoredAnswer
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict

RUN_ID = "runId"


class Acknowledged(NamedTuple):
    """The acknowledgement of a mutation; `replayed` says that it was made by an earlier request with this key."""

    data: dict[str, Any]
    replayed: bool


def run_scope(ctx: AgentContext) -> str:
    """Where a key of this operation counts: on its run, and everywhere for one that has none (gateway rules,
    idempotency)."""
    return ctx.operation if ctx.run is None else f"{ctx.operation}:{ctx.run.id}"


def once(
    ctx: AgentContext, scope: str, request_hash: str, mutate: Callable[[Tx], dict[str, Any]]
) -> Work[Acknowledged]:
    """Carry out `mutate` unless the key was used before (gateway rules, idempotency).

    `mutate` runs in the transaction and answers the acknowledgement as JSON, which names the run that an operation
    without one has made. The rules about the state of the run are its own, because a replay comes before them. Raises
    Conflict for a key that was used with another request, and what `mutate` raises; then nothing is stored and the key
    stays free.
    """

    key_hash = cast(str, ctx.key_hash)

    def transaction(tx: Tx) -> Acknowledged:
        stored = agent_idempotency.find(tx, scope, key_hash)
        if stored is not None:
            if stored.request_hash != request_hash:
                raise Conflict("key_reused")
            return Acknowledged(stored.response, replayed=True)
        data = mutate(tx)
        run = ctx.run or agent_runs.get(tx, data[RUN_ID])
        assert run is not None
        agent_idempotency.insert(tx, scope, key_hash, StoredAnswer(request_hash, data), run.seq, ctx.now_us())
        ctx.audit(tx, run.id)
        return Acknowledged(data, replayed=False)

    acknowledged: Acknowledged = yield Write(transaction)
    return acknowledged
