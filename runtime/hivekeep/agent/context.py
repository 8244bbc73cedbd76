"""What an operation of the gateway is given: who asks, on which run, and the store.

Invariant: an operation sees the run as it was before its first item. Whoever writes reads it again in the
transaction, because others wrote meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hivekeep.agent.canonical import moment_now
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.storage import agent_runs, events
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Engine, EventRow, Tx
from hivekeep_contract.gateway_errors import NotFound
from hivekeep_contract.settings import Settings


@dataclass(slots=True)
class AgentContext:
    """The surroundings of one operation.

    `operation` is its public name (`agent.open`). `idempotency_key` and `key_hash` (SHA-256 in hex) are set for
    writes, `run` for operations on a run. `checker` and `audit_row` are dispatch's: the schema check of the body, and
    the audit row of a success on that target. `audited` says that a transaction of the operation holds the row.
    """

    engine: Engine
    settings: Settings
    caller: Caller
    operation: str
    checker: Callable[[Any], None]
    audit_row: Callable[[str | None], EventRow]
    idempotency_key: str | None = None
    key_hash: str | None = None
    run: RunRow | None = None
    audited: bool = field(default=False, init=False)

    @property
    def the_run(self) -> RunRow:
        """The run of an operation that has one."""
        assert self.run is not None
        return self.run

    def run_now(self, tx: Tx) -> RunRow:
        """The run as this transaction sees it. Raises NotFound when it was purged meanwhile."""
        run = agent_runs.get(tx, self.the_run.id)
        if run is None:
            raise NotFound("no_run")
        return run

    def now_us(self) -> int:
        """The present moment in microseconds, in whole milliseconds as all moments of the gateway."""
        return moment_now()

    def new_id(self) -> str:
        """A fresh random id."""
        return new_id()

    def check(self, body: Any) -> None:
        """Check a body by the schema of the operation; for those that look at the state of the run first.

        Raises ValidationError.
        """
        self.checker(body)

    def audit(self, tx: Tx, target_id: str | None) -> None:
        """Write the audit row of this success into the mutation's own transaction."""
        events.insert(tx, self.audit_row(target_id))
        self.audited = True
