"""A handler that runs another verb, writes later, or opens its own transactions."""

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.packs.context import Context
from hivekeep.packs.kg import KgPack
from hivekeep.storage import entities
from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import kg as models
from support.client import Hive

Handler = Callable[[Context, Any], Any]
QUERY = 'query(query="MATCH (n) RETURN n")'
RESTORE = 'restore(id="00000000-0000-4000-8000-000000000000")'


@pytest.fixture
def replaced(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Handler], None]:
    """Puts a handler of the test in the place of a verb's own."""

    def replace(verb: str, handler: Handler) -> None:
        monkeypatch.setattr(KgPack, verb, staticmethod(handler))

    return replace


def test_a_write_joins_the_transaction_of_the_write_that_invokes_it(
    hive: Hive, replaced: Callable[[str, Handler], None]
) -> None:
    """Both are kept together, each with its audit row; the inner one names the outer one's as its parent."""

    def handler(ctx: Context, args: models.RestoreArgs) -> Any:
        made = ctx.invoke("create", {"kind": "concept", "name": "inner"})
        ctx.touch("entity", made["id"])
        return {**made, "restored": True}

    replaced("restore", handler)
    made = hive.ok(RESTORE)
    assert made["name"] == "inner"
    rows = {row["verb"]: row for row in hive.events(event_kind="audit")}
    assert rows["create"]["payload"]["parent_event_id"] == rows["restore"]["id"]
    assert rows["create"]["target_id"] == rows["restore"]["target_id"] == made["id"]
    assert "parent_event_id" not in rows["restore"]["payload"]


def test_what_the_inner_verb_wrote_goes_when_the_outer_one_fails(
    hive: Hive, replaced: Callable[[str, Handler], None]
) -> None:
    """One transaction: nothing of the inner verb is left, neither its record nor its audit row."""

    def handler(ctx: Context, args: models.RestoreArgs) -> Any:
        ctx.invoke("create", {"kind": "concept", "name": "inner"})
        raise InvalidInput("no")

    replaced("restore", handler)
    assert hive.fails(RESTORE)["message"] == "no"
    assert hive.ok('list(kind="concept")')["items"] == []
    assert [row["verb"] for row in hive.events(event_kind="audit") if row["verb"] in ("create", "restore")] == [
        "restore"
    ]


def test_a_read_leaves_both_audit_rows(hive: Hive, replaced: Callable[[str, Handler], None]) -> None:
    """The row of an invoked read is stored with that of the read that invoked it."""

    def handler(ctx: Context, args: models.VerbsArgs) -> Any:
        ctx.invoke("whoami", {})
        return original(ctx, args)

    original = KgPack.verbs
    replaced("verbs", handler)
    hive.ok("verbs()")
    rows = {row["verb"]: row for row in hive.events(event_kind="audit")}
    assert rows["whoami"]["payload"]["parent_event_id"] == rows["verbs"]["id"]


def test_a_write_cannot_join_a_read(hive: Hive, replaced: Callable[[str, Handler], None]) -> None:
    """It is refused by name, and nothing is written."""
    replaced("query", lambda ctx, args: ctx.invoke("create", {"kind": "concept", "name": "x"}))
    error = hive.fails(QUERY)
    assert error["message"] == "query: create cannot run inside its transaction"


def test_the_verb_of_a_pack_that_is_not_loaded_is_refused(hive: Hive, replaced: Callable[[str, Handler], None]) -> None:
    """The message names both verbs; `loaded` tells it beforehand."""
    seen: list[bool] = []

    def handler(ctx: Context, args: models.QueryArgs) -> Any:
        seen.extend([ctx.loaded("kg"), ctx.loaded("nosuch")])
        return ctx.invoke("nosuch.verb", {})

    replaced("query", handler)
    assert hive.fails(QUERY)["message"] == "query: needs nosuch.verb, whose pack is not loaded"
    assert seen == [True, False]


def test_the_gate_is_asked_for_the_inner_verb(
    hive: Hive, replaced: Callable[[str, Handler], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller who may not create cannot do it through another verb either."""

    class NoCreate:
        name = "no_create"

        def check(self, request: Any) -> Any:
            from hivekeep.gate.policy import Decision

            return Decision(request.verb != "create", "not this one", ())

    hive.server.around.gate = NoCreate()
    replaced("restore", lambda ctx, args: ctx.invoke("create", {"kind": "concept", "name": "x"}))
    error = hive.entry(RESTORE)["error"]
    assert error["code"] == "permission_denied"
    assert hive.ok('list(kind="concept")')["items"] == []


def test_a_verb_without_a_transaction_takes_its_own(hive: Hive, replaced: Callable[[str, Handler], None]) -> None:
    """`reading` and `write` give it transactions; what was noted in them is in its audit row."""

    def handler(ctx: Context, args: models.DbDiagnosticsArgs) -> Any:
        assert ctx.tx is None

        def make(inner: Context) -> str:
            made: str = inner.invoke("create", {"kind": "concept", "name": "made"})["id"]
            inner.touch("entity", made)
            return made

        made = ctx.write(make)
        other = ctx.invoke("create", {"kind": "concept", "name": "other"})["id"]
        with ctx.reading() as snapshot:
            names = [row.name for row in entities.get_many(snapshot.tx, [made, other]).values()]
        raise InvalidInput(" ".join(sorted(names)))

    replaced("db_diagnostics", handler)
    assert hive.fails("db_diagnostics()")["message"] == "made other"
    created = [row for row in hive.events(event_kind="audit") if row["verb"] == "create"]
    assert len(created) == 2
    assert len({row["payload"]["parent_event_id"] for row in created}) == 1


def test_a_deferred_write_comes_after_the_answer_and_cannot_harm_it(
    hive: Hive, replaced: Callable[[str, Handler], None]
) -> None:
    """A failing one is counted; the next one is still carried out; those of a failed operation are not."""
    done: list[str] = []

    def broken(tx: Tx) -> None:
        raise ValueError("no")

    def handler(ctx: Context, args: models.VerbsArgs) -> Any:
        ctx.defer(broken)
        ctx.defer(lambda tx: done.append("deferred"))
        return original(ctx, args)

    original = KgPack.verbs
    replaced("verbs", handler)
    hive.ok("verbs()")
    hive.server.engine.settle()
    assert done == ["deferred"]
    assert hive.server.engine.counters()["deferred_writes_dropped"] == 1
