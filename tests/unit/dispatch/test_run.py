"""One request through the server: order of the steps, entries, audit."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from hivekeep.dispatch.compiled import CompiledVerb, compile_verb
from hivekeep.gate.policy import Decision, GateRequest
from hivekeep.storage.engine import EventRow
from hivekeep_contract.catalog import Verb
from hivekeep_contract.errors import InvalidParams, StorageUnavailable, WriterTaskBeginBusy
from support.client import Hive, open_hive


class Recorder:
    """A gate that keeps what it was asked, and denies or fails on request."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: list[GateRequest] = []
        self.deny: set[str] = set()
        self.broken = False

    def check(self, request: GateRequest) -> Decision:
        self.asked.append(request)
        if self.broken:
            raise RuntimeError("policy store is down")
        if request.verb in self.deny:
            return Decision(False, "not today", ())
        return Decision(True, None, ({"kind": "audit", "tag": "seen"},))


@pytest.fixture
def gate(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """The server's gate, replaced by one that records."""
    recorder = Recorder()
    object.__setattr__(hive.server.around, "gate", recorder)
    return recorder


def test_results_keep_the_order_of_the_operations(hive: Hive) -> None:
    """A batch answers by index, whatever each entry became."""
    tools = [entry["tool"] for entry in hive.run("[stats(), nosuch(), whoami()]")["results"]]
    assert tools == ["stats", "nosuch", "whoami"]


def test_a_failure_does_not_stop_its_siblings(hive: Hive) -> None:
    """In a batch every operation has its own outcome."""
    envelope = hive.run('[create(kind="concept"), create(kind="concept", name="A")]')
    assert envelope["summary"] == {"total": 2, "succeeded": 1, "failed": 1, "aborted": 0}
    assert envelope["status"] == "partial"


@pytest.mark.parametrize(
    ("ops", "suggestion"), [("stat()", "'stats'"), ("kg.neighbors()", "'neighbors'"), ("creaet()", "'create'")]
)
def test_an_unknown_verb_is_answered_with_the_nearest(hive: Hive, ops: str, suggestion: str) -> None:
    """A misspelt verb is refused before anything runs, with what was probably meant."""
    entry = hive.entry(ops)
    assert (entry["error"]["code"], entry["domain_disposition"]) == ("unknown_verb", "not_committed")
    assert entry["error"]["message"].startswith("unknown verb")
    assert f"did you mean {suggestion}" in entry["error"]["message"]


def test_an_unknown_argument_names_the_accepted_ones(hive: Hive) -> None:
    """A misspelt argument is refused by name, with a suggestion and the whole list."""
    entry = hive.entry('create(kind="concept", nam="A")')
    message = entry["error"]["message"]
    assert entry["domain_disposition"] == "not_committed"
    assert message.startswith("create: unknown argument 'nam'; did you mean 'name'? Accepted: kind, ")
    assert "skip_dedup_check" in message
    distant = hive.fails("stats(colour=1)")["message"]
    assert distant == "stats: unknown argument 'colour'. Accepted: none"


@pytest.mark.parametrize(
    ("ops", "says"),
    [
        ("get()", "'id' is required and must be a full UUID"),
        ('create(kind="observation", content="x", salience=2)', "'salience' must be a number from 0.0 to 1.0"),
        ('create(kind="observation", content="x", salience="high")', 'got "high"'),
        ('create(kind="concept", name="  ")', "'name' must be a string that is not blank"),
        (
            'create(kind="concept", name="A", tags=["a", 1])',
            "'tags[1]' is refused (1 is not of type \"string\"); 'tags' must be a list, each item a string; got 1",
        ),
        (f"resolve(refs={['name'] * 101})".replace("'", '"'), "a list, each item a string (1 to 100 items); got ["),
        (f"resolve(refs={['name'] * 101})".replace("'", '"'), "... (101 items)"),
        ('list(kind="entity", limit=-1)', "'limit' must be"),
        ('list(kind="entity", limit=1.5)', "'limit' must be"),
        ('list(kind="event", session_id="abcd1234")', "'session_id' must be a full UUID"),
        ('link(source_id="a", source="b", target_id="c", relation="extends")', "'source_id' is given twice"),
        ('link(source_id="a", target_id="c", relation="likes")', "'relation' must be one of contains, part_of"),
        ('create(kind="decision", content="x", key="a\\u0000b")', "'key' must be 1 to 512 UTF-8 bytes"),
        ('create(kind="concept", name="A", namespace="a b")', "'namespace' must be"),
        ('search(kind="entity", query="x", min_score=0.1, min_rank_score=0.1)', "older name"),
        ('neighbors(node_id="x", after="")', "limit"),
        ("create(help=1)", "'help' must be true"),
        ('propose(title="a", description="b", changeset=3)', "'changeset' must be an object; got 3"),
        ('propose(title="a", description="b", changeset={})', "'changeset' needs 'kind', which tells the shapes apart"),
        (
            'propose(title="a", description="b", changeset={"kind": "compound", "steps": [{"kind": "x"}]})',
            "'changeset.steps[0].kind' must be one of add_entity, update_entity",
        ),
        (
            'propose(title="a", description="b", changeset={"kind": "update_entity", "id": "ab", "patch": {}})',
            '\'changeset.id\' takes: The entity, by its full UUID ("ab" is shorter than 32 characters); got "ab"',
        ),
        (
            'propose(title="a", description="b", changeset={"kind": "add_note", "note": {"kind": "x", "to": 1}})',
            "'changeset.note' takes: The note that a step makes",
        ),
    ],
)
def test_a_wrong_argument_is_answered_in_the_words_of_the_contract(hive: Hive, ops: str, says: str) -> None:
    """Refusals before the handler say what is accepted, and that nothing was written."""
    entry = hive.entry(ops)
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("invalid_input", "not_committed")
    assert says in entry["error"]["message"]


def test_help_answers_without_policy_and_without_running(hive: Hive, gate: Recorder) -> None:
    """help=true short-circuits: other arguments do not count, the gate is not asked."""
    gate.deny.add("delete")
    answer = hive.ok("delete(help=true, colour=1)")
    assert (answer["verb"], answer["pack"], answer["category"]) == ("delete", "kg", "Declaration")
    assert [param["name"] for param in answer["params"]] == ["id", "kind", "hard"]
    assert gate.asked == []


def test_the_gate_sees_who_asks_for_what(hive: Hive, gate: Recorder) -> None:
    """One question an operation, with the caller, the namespace written to and the arguments."""
    hive.as_actor("agent:x", "team").call("create", kind="concept", name="A", namespace="other")
    (asked,) = gate.asked
    assert (asked.actor_kind, asked.actor_id, asked.namespace, asked.verb, asked.source) == (
        "actor",
        "agent:x",
        "other",
        "create",
        "test",
    )
    assert asked.args["name"] == "A"


def test_a_denied_operation_does_not_run_and_is_on_record(hive: Hive, gate: Recorder) -> None:
    """Denial is not_committed and leaves an audit row with the reason."""
    gate.deny.add("create")
    entry = hive.entry('create(kind="concept", name="A")')
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("permission_denied", "not_committed")
    assert "create: not today" in entry["error"]["message"]
    (row,) = hive.events(event_kind="audit", verb="create")
    assert (row["outcome"], row["payload"]["decision"]) == ("denied", "deny")
    assert "not today" in row["payload"]["deny_reason"]
    assert "cost_unit" not in row["payload"]["resource"]
    assert hive.ok("stats()")["entities"] == 0


def test_a_gate_that_fails_refuses(hive: Hive, gate: Recorder) -> None:
    """A policy that cannot be asked allows nothing."""
    gate.broken = True
    entry = hive.entry("stats()")
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("gate_unavailable", "not_committed")


def test_obligations_of_the_gate_are_on_the_audit_row(hive: Hive, gate: Recorder) -> None:
    """What the policy attached to its permission is recorded."""
    hive.ok("stats()")
    (row,) = hive.events(event_kind="audit", verb="stats")
    assert row["payload"]["obligations"] == [{"kind": "audit", "tag": "seen"}]


def test_an_unexpected_fault_rolls_back_and_hides_its_text(
    hive: Hive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug answers an internal error with an id; neither answer nor log holds the arguments."""

    def emit(*_args: Any) -> str:
        raise ValueError("the argument was hunter2")

    monkeypatch.setattr("hivekeep.packs.context.Context.emit", emit)
    with caplog.at_level(logging.ERROR, "hivekeep"):
        entry = hive.entry('create(kind="concept", name="A")')
    monkeypatch.undo()
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("internal", "unknown")
    assert entry["error"]["error_id"] in caplog.text
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text + json.dumps(entry)
    assert hive.ok("stats()")["entities"] == 0
    (row,) = hive.events(event_kind="audit", verb="create")
    assert row["outcome"] == "error"


@pytest.mark.parametrize("ops", ["stats()", "[stats()]", "whoami() | stats(namespace=$prev.namespace)"])
def test_a_verb_that_cannot_be_prepared_fails_alone(
    hive: Hive, ops: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault before the handler is an internal error that wrote nothing; it is on record, and the server goes on."""

    def broken(verb: Verb, *more: Any) -> CompiledVerb:
        if verb.name == "stats":
            raise KeyError("hunter2")
        return compile_verb(verb, *more)

    monkeypatch.setattr("hivekeep.dispatch.run.compile_verb", broken)
    with caplog.at_level(logging.ERROR, "hivekeep"):
        entry = hive.entry(ops)
    monkeypatch.undo()
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("internal", "not_committed")
    assert entry["error"]["error_id"] in caplog.text
    assert "KeyError" in caplog.text
    assert "hunter2" not in caplog.text + json.dumps(entry)
    (row,) = hive.events(event_kind="audit", verb="stats")
    assert row["outcome"] == "error"
    assert hive.ok("stats()")["entities"] == 0


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (StorageUnavailable("disk full"), "store_failure"),
        (WriterTaskBeginBusy("locked"), "admission_deadline_expired"),
    ],
)
def test_a_read_whose_audit_row_is_lost_fails_with_its_result(
    hive: Hive, monkeypatch: pytest.MonkeyPatch, failure: Exception, code: str
) -> None:
    """A required audit row that cannot be stored fails the operation, which was carried out all the same."""

    def append(rows: list[EventRow], *, may_degrade: bool) -> None:
        raise failure

    monkeypatch.setattr(hive.server.engine, "append_audit", append)
    entry = hive.entry("stats()")
    error = entry["error"]
    assert (error["kind"], error["code"], entry["domain_disposition"]) == ("obligation", code, "committed")
    assert error["domain_result"]["entities"] == 0


def test_a_lost_audit_row_ends_a_chain(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows an obligation failure is aborted."""

    def append(rows: list[EventRow], *, may_degrade: bool) -> None:
        raise StorageUnavailable("disk full")

    monkeypatch.setattr(hive.server.engine, "append_audit", append)
    envelope = hive.run("stats() | whoami()")
    assert envelope["summary"] == {"total": 2, "succeeded": 0, "failed": 1, "aborted": 1}


def test_a_write_commits_with_its_audit_row_or_not_at_all(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the audit row of a write cannot be stored, the record is not stored either."""

    def insert(*_args: Any) -> None:
        raise StorageUnavailable("disk full")

    monkeypatch.setattr("hivekeep.dispatch.call.events.insert", insert)
    entry = hive.entry('create(kind="concept", name="A")')
    monkeypatch.undo()
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("unavailable", "not_committed")
    assert hive.ok("stats()")["entities"] == 0


def test_a_read_only_store_answers_reads_and_says_what_is_missing(tmp_path: Path) -> None:
    """Reads succeed with an advisory, writes are refused, help carries none."""
    path = tmp_path / "hive.db"
    with open_hive(path) as writable:
        writable.call("create", kind="concept", name="A")
    with open_hive(path, read_only=True) as hive:
        entry = hive.entry("stats()")
        assert entry["result"]["entities"] == 1
        (advisory,) = entry["advisories"]
        assert advisory["code"] == "audit_persistence_skipped_read_only"
        assert "advisories" not in hive.entry("stats(help=true)")
        refusal = hive.entry('create(kind="concept", name="B")')
        assert (refusal["error"]["kind"], refusal["domain_disposition"]) == ("unavailable", "not_committed")
        assert "read-only" in refusal["error"]["message"]


def test_always_verbose_verbs_stay_verbose_for_agents(hive: Hive) -> None:
    """get keeps nulls and full ids in agent mode; create does not."""
    record = hive.call("create", kind="concept", name="A")
    shown = hive.ok(f'get(id="{record["id"]}")', presentation="agent")
    assert (shown["id"], shown["description"]) == (record["id"], None)
    listed = hive.ok('list(kind="concept")', presentation="agent")["items"][0]
    assert listed["id"] == record["id"][:8]
    assert "description" not in listed


def test_presentation_and_format_may_differ_by_operation(hive: Hive) -> None:
    """The per-operation lists override, null falls back, a list that is too long is refused."""
    hive.call("create", kind="concept", name="A")
    hive.call("create", kind="concept", name="B")
    envelope = hive.run(
        '[list(kind="concept"), list(kind="concept"), stats()]',
        presentation="agent",
        presentation_per_op=["verbose", None],
        format_per_op=[None, "table"],
    )
    first, second, third = (entry["result"] for entry in envelope["results"])
    assert len(first["items"][0]["id"]) == 36
    assert isinstance(second, str)
    assert second.splitlines()[1].startswith("| ---")
    assert third["entities"] == 2
    with pytest.raises(InvalidParams, match="format_per_op"):
        hive.run("stats()", format_per_op=["json", "json"])


def test_prev_reads_the_canonical_result_whatever_is_shown(hive: Hive) -> None:
    """A chain hands on full ids although the agent sees short ones."""
    envelope = hive.run(
        'create(kind="concept", name="A") | get(id=$prev.id) | list(kind="event", target_id=$prev.id)',
        presentation="agent",
    )
    assert envelope["summary"]["succeeded"] == 3
    assert len(envelope["results"][0]["result"]["id"]) == 8


def test_a_reference_that_does_not_fit_lists_the_fields(hive: Hive) -> None:
    """The failed operation is not_committed and says what the result before has."""
    envelope = hive.run("stats() | get(id=$prev.nosuch) | stats()")
    error = envelope["results"][1]["error"]
    assert error["domain_disposition"] == "not_committed"
    assert "Available top-level fields: [count_scope, edges, entities, notes]" in error["message"]
    assert envelope["results"][2]["aborted"] is True


def test_save_to_writes_lines_and_answers_a_manifest(tmp_path: Path) -> None:
    """The entries go to a file inside the export folder; the caller gets counts and checksums."""
    with open_hive(save_to_root=str(tmp_path)) as hive:
        manifest = hive.run("[stats(), nosuch()]", save_to=str(tmp_path / "out.jsonl"))
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["stats", "nosuch"]
    assert manifest["rows"] == 2
    assert manifest["summary"] == {"total": 2, "succeeded": 1, "failed": 1, "aborted": 0}
    assert manifest["failures"][0]["op_index"] == 1


def test_the_request_id_ties_the_audit_rows_together(hive: Hive) -> None:
    """A given id is on every audit row of the request."""
    hive.run("[stats(), whoami()]", request_id=77)
    assert {row["payload"]["request_id"] for row in hive.events(verbs=["stats", "whoami"])} == {77}
