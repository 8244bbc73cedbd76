"""Pages of runs and of events: order, cursors, filters, limits."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import views
from hivekeep.storage import agent_runs
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import GATEWAY_RESPONSE_MAX_BYTES
from support.gateway import ABSENT, Gateway, HttpGateway, asking, event, opening, path_of
from support.runs import run_row


def listed(gateway: Gateway, **query: Any) -> list[str]:
    """The ids of all runs, page by page."""
    ids: list[str] = []
    query = {"workspace": "demo", **query}
    while True:
        page = gateway.ask("agent.runs.list", query=query).data
        ids += [item["runId"] for item in page["items"]]
        if page["nextCursor"] is None:
            return ids
        query["cursor"] = page["nextCursor"]


def made_at(gateway: Gateway, moments: list[int]) -> list[str]:
    """Runs that were made at these milliseconds; their ids."""
    ids = [gateway.opened() for _ in moments]
    changes = [(moment * 1000, run_id) for moment, run_id in zip(moments, ids, strict=True)]
    gateway.gateway.engine.run_write(lambda tx: tx.many("UPDATE agent_runs SET created_at = ? WHERE id = ?", changes))
    return ids


class TestRuns:
    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
    def test_newest_first_and_then_by_id(self, gateway: Gateway, limit: int) -> None:
        """Whatever the page size, each run once, in one order."""
        moments = [5, 5, 9, 1, 5, 9, 3]
        ids = made_at(gateway, moments)
        wanted = [run_id for _moment, run_id in sorted(zip(moments, ids, strict=True), key=lambda at: (-at[0], at[1]))]
        assert listed(gateway, limit=limit) == wanted

    def test_filters(self, gateway: Gateway) -> None:
        """By workspace exactly, by kind of client, by status, and by both; no totals."""
        active = gateway.opened()
        other_client = gateway.opened(opening(client={"kind": "codex"}))
        waiting = gateway.opened(asking(client={"kind": "codex"}))
        gateway.opened(opening(workspace="demo2"))
        assert sorted(listed(gateway)) == sorted([active, other_client, waiting])
        assert sorted(listed(gateway, client="codex")) == sorted([other_client, waiting])
        assert listed(gateway, status="intake") == [waiting]
        assert listed(gateway, client="codex", status="active") == [other_client]
        assert listed(gateway, workspace="nowhere") == []
        page = gateway.ask("agent.runs.list", query={"workspace": "demo"}).data
        assert set(page) == {"items", "nextCursor", "untrusted"}

    def test_a_page_of_large_runs_ends_early(self, gateway: Gateway) -> None:
        """40 runs with 60 kB of metadata each: several pages below the size of an answer, and no run is left out."""
        ids = [gateway.opened(opening(metadata={"note": "x" * 60_000})) for _ in range(40)]
        first = gateway.ask("agent.runs.list", query={"workspace": "demo"}).data
        assert len(json.dumps(first)) < GATEWAY_RESPONSE_MAX_BYTES
        assert 10 < len(first["items"]) < 20
        assert sorted(listed(gateway)) == sorted(ids)

    @pytest.mark.parametrize("filters", [{}, {"status": "active"}, {"client_kind": "test"}])
    def test_a_page_walks_one_index(self, gateway: Gateway, filters: dict[str, str]) -> None:
        """No sorting and no scan, with a cursor and without."""
        plans: list[str] = []

        class Explaining:
            def all(self, sql: str, args: Any) -> list[Any]:
                with gateway.gateway.engine.read() as tx:
                    plans.extend(row[3] for row in tx.all("EXPLAIN QUERY PLAN " + sql, args))
                return []

        wanted = agent_runs.RunFilter(**filters)
        for after in (None, agent_runs.RunPlace(5, "x")):
            agent_runs.page(Explaining(), "demo", wanted, after=after, limit=10)  # type: ignore[arg-type]
        assert all(plan.startswith("SEARCH agent_runs USING INDEX agent_runs_") for plan in plans), plans


class TestCursor:
    @given(st.integers(min_value=0, max_value=4_000_000_000_000), st.uuids(version=4))
    @settings(derandomize=True, max_examples=100, deadline=None)
    def test_a_cursor_names_its_place(self, milliseconds: int, run_id: Any) -> None:
        """What a page gave is read back exactly; it is base64url without padding of version, moment and id."""
        run = run_row(created_at=milliseconds * 1000, id=str(run_id))
        cursor = views.run_cursor(run)
        assert views.run_place(cursor) == (run.created_at, run.id)
        value = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        assert (list(value), value["version"], value["runId"]) == (["version", "createdAt", "runId"], 1, run.id)

    @given(st.text(max_size=40) | st.binary(max_size=40).map(lambda raw: base64.urlsafe_b64encode(raw).decode()))
    @settings(derandomize=True, max_examples=200, deadline=None)
    def test_no_other_text_is_one(self, text: str) -> None:
        """Anything else is refused, and nothing else is raised."""
        with pytest.raises(ValidationError) as refused:
            views.run_place(text)
        assert refused.value.reason == "bad_cursor"

    @pytest.mark.parametrize(
        "value",
        [
            {"version": 2, "createdAt": "2026-01-02T03:04:05.678Z", "runId": "x"},
            {"version": 1, "createdAt": "2026-02-30T03:04:05.678Z", "runId": "x"},
            {"version": 1, "createdAt": "2026-01-02T03:04:05.678Z", "runId": 7},
            {"createdAt": "2026-01-02T03:04:05.678Z", "runId": "x", "version": 1},
            {"version": 1, "createdAt": "2026-01-02T03:04:05.678Z", "runId": "x", "more": 1},
            [],
            7,
        ],
    )
    def test_a_cursor_that_somebody_wrote(self, http: HttpGateway, value: Any) -> None:
        """Another version, no moment, another order, more fields: 400."""
        cursor = base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")
        reply = http.ask("agent.runs.list", query={"workspace": "demo", "cursor": cursor})
        assert (reply.status, reply.error["details"]) == (400, {"reason": "bad_cursor", "field": "/cursor"})


class TestEvents:
    def test_pages_by_sequence(self, gateway: Gateway) -> None:
        """`after` is exclusive, the next cursor is the last number of the page, null at the end."""
        run_id = gateway.opened()
        gateway.events(run_id, *[event() for _ in range(7)])
        seen, after = [], 0
        while True:
            page = gateway.ask("agent.events.list", run_id, query={"after": after, "limit": 3}).data
            seen.append([item["sequence"] for item in page["items"]])
            if page["nextCursor"] is None:
                break
            after = page["nextCursor"]
            assert after == seen[-1][-1]
        assert seen == [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10]]
        assert gateway.timeline(run_id, after=10) == []
        assert gateway.timeline(run_id, after=9007199254740991) == []

    def test_events_of_one_type(self, gateway: Gateway) -> None:
        """Only those, with their numbers in the run, in pages of their own."""
        run_id = gateway.opened()
        gateway.events(run_id, event("step.failed"), event(), event("step.failed"), event("step.failed"))
        page = gateway.ask("agent.events.list", run_id, query={"type": "step.failed", "limit": 2}).data
        assert ([item["sequence"] for item in page["items"]], page["nextCursor"]) == ([4, 6], 6)
        assert [item["sequence"] for item in gateway.timeline(run_id, type="step.failed", after=6)] == [7]

    def test_a_page_of_large_events_ends_early(self, http: HttpGateway) -> None:
        """62 events of 60 kB: every page is sent, and together they are all."""
        run_id = http.opened()
        for _ in range(2):
            http.events(run_id, *[event(payload={"text": "x" * 60_000}) for _ in range(31)])
        after, numbers, pages = 0, [], 0
        while True:
            page = http.ask("agent.events.list", run_id, query={"after": after}).data
            numbers += [item["sequence"] for item in page["items"]]
            pages += 1
            if page["nextCursor"] is None:
                break
            after = page["nextCursor"]
        assert numbers == list(range(1, 66))
        assert 4 <= pages <= 6


@pytest.mark.parametrize(
    ("operation", "query", "reason"),
    [
        ("agent.runs.list", "", "query_value"),
        ("agent.runs.list", "workspace=", "query_value"),
        ("agent.runs.list", "workspace=%0A", "query_value"),
        ("agent.runs.list", "workspace=a&workspace=a", "query_repeated"),
        ("agent.runs.list", "workspace=a&x=1", "query_unknown"),
        ("agent.runs.list", "workspace=a&Limit=1", "query_unknown"),
        ("agent.runs.list", "workspace=a&status=done", "query_value"),
        ("agent.runs.list", "workspace=a&limit=0", "query_value"),
        ("agent.runs.list", "workspace=a&limit=101", "query_value"),
        ("agent.runs.list", "workspace=a&limit=01", "query_value"),
        ("agent.runs.list", "workspace=a&limit=+1", "query_value"),
        ("agent.runs.list", "workspace=a&limit=1.0", "query_value"),
        ("agent.runs.list", "workspace=a&limit=", "query_value"),
        ("agent.runs.list", "workspace=a&limit=%D9%A1", "query_value"),
        ("agent.runs.list", "workspace=%ff", "query_value"),
        ("agent.runs.list", "workspace=a&cursor=", "bad_cursor"),
        ("agent.events.list", "after=-1", "query_value"),
        ("agent.events.list", "after=9007199254740992", "query_value"),
        ("agent.events.list", "after=99999999999999999999999", "query_value"),
        ("agent.events.list", "type=step", "query_value"),
        ("agent.events.list", "cursor=1", "query_unknown"),
        ("agent.run.read", "x=1", "query_not_allowed"),
        ("agent.intake.read", "limit=1", "query_not_allowed"),
    ],
)
def test_what_a_query_string_may_say(http: HttpGateway, operation: str, query: str, reason: str) -> None:
    """400 with a word for each fault, on a run that exists."""
    known = OPERATIONS[operation]
    target = path_of(known, http.opened() if known.has_run else None)
    reply = http.send("GET", f"{target}?{query}" if query else target, headers=http.headers(known), operation=operation)
    assert reply.told == (400, "VALIDATION_ERROR", reason)


def test_an_empty_query_string_is_none(http: HttpGateway) -> None:
    """A lone question mark asks for nothing."""
    known = OPERATIONS["agent.run.read"]
    target = path_of(known, http.opened())
    assert http.send("GET", target + "?", headers=http.headers(known), operation=known.name).status == 200


def test_a_query_is_looked_at_before_the_run(http: HttpGateway) -> None:
    """As for writes: 400 on a run that does not exist."""
    reply = http.ask("agent.events.list", ABSENT, query={"limit": 0})
    assert reply.told == (400, "VALIDATION_ERROR", "query_value")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/workspaces",
        "/api/v1/memory/entries",
        "/api/v1/context/query",
        f"/api/v1/agent/runs/{ABSENT}/deliveries",
        f"/api/v1/agent/runs/{ABSENT}/context-deliveries",
    ],
)
def test_there_are_no_ungated_reads(http: HttpGateway, path: str) -> None:
    """Workspaces, entries, deliveries and context queries are not served, by GET or by POST."""
    headers = http.headers(OPERATIONS["agent.open"])
    for method in ("GET", "POST"):
        assert http.send(method, path, b"{}", headers).told == (404, "NOT_FOUND", "no_endpoint")
