"""`agent.open`: a run, its intake, and their first events, in one transaction."""

from __future__ import annotations

from typing import Any, cast

from hivekeep.agent import capabilities, enrich, intake, intaking, ledger, sanitising
from hivekeep.agent.canonical import digest, ts_us
from hivekeep.agent.capabilities import Catalog
from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage import agent_intakes, agent_purges, agent_runs
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep_contract.gateway import LEDGER_ROOT, RUN_STATUSES
from hivekeep_contract.gateway_errors import Conflict, NotFound
from hivekeep_contract.models import gateway as models

WORKSPACE = "/workspace"
_CAPABILITIES = "capabilities"


def open_run(ctx: AgentContext, body: models.OpenBody) -> Work[models.OpenedRun]:
    """Open a run (gateway rules, open). What follows the mutation is worked out again on each replay."""
    catalog = capabilities.read_catalog(body.get(_CAPABILITIES), supplied=_CAPABILITIES in body)
    request = _request(body, catalog)

    def mutate(tx: Tx) -> dict[str, Any]:
        return cast(dict[str, Any], _create(ctx, tx, request))

    acknowledged = yield from once(ctx, run_scope(ctx), digest(request), mutate)
    data = cast(models.IntakeState, acknowledged.data)
    enriched = yield from enrich.gated(
        ctx, data["runId"], catalog, preliminary=data["recommendations"], asking=data["question"] is not None
    )
    return cast(models.OpenedRun, {**data, **enriched})


def _request(body: models.OpenBody, catalog: Catalog) -> dict[str, Any]:
    """The request in the one form that is hashed and stored: sanitised, with what may be left out filled in.

    Raises ValidationError for a part that is too large and for metadata that speaks for the gateway, SecurityRejection
    for a workspace that looks like a secret.
    """
    workspace = body["workspace"]
    sanitising.refuse_secret(workspace, WORKSPACE)
    metadata = body.get("metadata", {})
    capabilities.refuse_reserved(metadata)
    task = body["task"]
    hints = task.get("profileHints", {})
    kept = sanitising.clean(
        workspace,
        {
            "client": body["client"],
            "task": {"title": task["title"], "query": task["query"], "profileHints": _all_slots(hints)},
            "metadata": metadata,
            "parentRunId": body.get("parentRunId"),
        },
    )
    sanitising.check_size(kept["task"], "/task")
    sanitising.check_size(kept["metadata"], capabilities.METADATA)
    return {
        **kept,
        "workspace": workspace,
        "captureProfile": body["captureProfile"],
        "coverage": body["coverage"],
        "binding": capabilities.catalog_digest(catalog),
        "startedAt": body.get("startedAt"),
    }


def _all_slots(hints: models.ProfileHints) -> models.TaskProfile:
    """Hints with null for each slot that they leave out: both say the same."""
    return {
        "taskType": hints.get("taskType"),
        "target": hints.get("target"),
        "expected": hints.get("expected"),
        "constraints": hints.get("constraints"),
    }


def _create(ctx: AgentContext, tx: Tx, request: dict[str, Any]) -> models.IntakeState:
    """The run, its intake and its first events; a profile that is complete makes the run active at once."""
    if agent_purges.is_spent(tx, cast(str, ctx.key_hash)):
        # The retry of an open must not bring back what somebody removed.
        raise NotFound("no_run")
    _check_parent(tx, request)
    now_us = ctx.now_us()
    run = agent_runs.insert(tx, _row(ctx, request, now_us))
    task = request["task"]
    state = intake.begin(task["query"], task["profileHints"])
    row = intaking.first_row(run.seq, ctx.new_id(), state, now_us)
    agent_intakes.insert(tx, row)
    run = ledger.lifecycle(ctx, tx, run, [intaking.begun(row), *intaking.finished(row)], now_us)
    if intaking.is_final(state):
        run = ledger.activate(tx, run, now_us)
    return intaking.view(run, row)


def _check_parent(tx: Tx, request: dict[str, Any]) -> None:
    if request["parentRunId"] is None:
        return
    parent = agent_runs.get(tx, request["parentRunId"])
    if parent is None:
        raise NotFound("no_parent")
    if parent.workspace != request["workspace"]:
        raise Conflict("other_workspace")


def _row(ctx: AgentContext, request: dict[str, Any], now_us: int) -> RunRow:
    client, task, started = request["client"], request["task"], request["startedAt"]
    return RunRow(
        seq=0,
        id=ctx.new_id(),
        workspace=request["workspace"],
        client_kind=client["kind"],
        client_version=client.get("version"),
        client_session_id=client.get("sessionId"),
        capture_profile=request["captureProfile"],
        coverage=dump(request["coverage"]),
        status=RUN_STATUSES["intake"],
        title=task["title"],
        task=dump(task),
        task_hash=digest(task),
        metadata=dump(request["metadata"]),
        binding_digest=request["binding"],
        parent_run_id=request["parentRunId"],
        last_sequence=0,
        last_source_sequence=None,
        last_event_hash=LEDGER_ROOT,
        started_at=now_us if started is None else ts_us(started),
        ended_at=None,
        created_at=now_us,
        updated_at=now_us,
    )
