"""A bad contract of the gateway is refused with the file, the line and what was meant, as one of a verb is."""

from pathlib import Path

import pytest

from support.refusals import Case, check, copy_registry
from tools.generate.__main__ import main

SURFACE = "gateway/_surface.yaml"
RANKING = "gateway/_ranking.yaml"
OPEN = "gateway/open.yaml"
NOTE = "gateway/note.yaml"
LIST = "gateway/list.yaml"
READ = "gateway/read.yaml"
SETUP = "    setup:\n      - {operation: open, request: {client: {kind: codex}}}\n    request: {text: hello}"

CASES = (
    Case(
        "a field in the spelling of verbs",
        SURFACE,
        "sessionId:",
        "session_id:",
        ("registry/gateway/_surface.yaml:36: shapes.client.fields: 'session_id' is not spelt as ^[a-z][a-zA-Z0-9]*$\n"),
    ),
    Case(
        "a parameter in the spelling of verbs",
        LIST,
        "  limit:",
        "  page_limit:",
        "registry/gateway/list.yaml:5: query: 'page_limit' is not spelt as ^[a-z][a-zA-Z0-9]*$\n",
    ),
    Case(
        "another base path than the prefix",
        SURFACE,
        "base_path: /small",
        "base_path: /smal",
        (
            "registry/gateway/_surface.yaml:5: base_path: must be '/small', the prefix of the gateway in "
            "registry/http.yaml\n"
        ),
    ),
    Case(
        "no words for reasons",
        SURFACE,
        "  reason:",
        "  reasons:",
        "registry/gateway/_surface.yaml:25: enums: the enum 'reason' is missing; it says why a request failed\n",
    ),
    Case(
        "one code with two exit statuses",
        SURFACE,
        "code: PARTIAL_FAILURE",
        "code: CONFLICT",
        (
            "registry/gateway/_surface.yaml:19: failures.partial_failure.exit: CONFLICT has the exit "
            "status 5 already; a client knows only the code\n"
        ),
    ),
    Case(
        "a failure of operations without a status",
        SURFACE,
        "exit: 9,",
        "exit: 9, of: every,",
        "registry/gateway/_surface.yaml:19: failures.partial_failure: a failure of operations needs a status\n",
    ),
    Case(
        "an operation without a file",
        SURFACE,
        "[open, note, list, read]",
        "[open, nota, note, list, read]",
        (
            "registry/gateway/_surface.yaml:7: operations.1: there is no file of the operation 'nota'; "
            "did you mean 'note'?\n"
        ),
    ),
    Case(
        "an operation that is not listed",
        SURFACE,
        "[open, note, list, read]",
        "[open, note, list]",
        "registry/gateway/_surface.yaml:7: operations: the operation 'read' is not listed\n",
    ),
    Case(
        "an unknown type of a header",
        SURFACE,
        "name: Small-Key, type: line",
        "name: Small-Key, type: lin",
        "registry/gateway/_surface.yaml:11: headers.key.type: unknown type 'lin'; did you mean 'line'?\n",
    ),
    Case(
        "a field that is said to be required",
        SURFACE,
        "kind: {type: line,",
        "kind: {type: line, required: true,",
        (
            "registry/gateway/_surface.yaml:37: shapes.client.fields.kind.required: a field of the "
            "gateway is always there unless it is optional\n"
        ),
    ),
    Case(
        "an unknown shape inside a shape",
        SURFACE,
        "notes: {list: {shape: note}",
        "notes: {list: {shape: noet}",
        (
            "registry/gateway/_surface.yaml:50: shapes.noted_run.fields.notes.list.shape: unknown shape "
            "'noet'; did you mean 'note'?\n"
        ),
    ),
    Case(
        "a constant of a pack",
        RANKING,
        "  points_max:",
        "  note_cap:",
        "registry/gateway/_ranking.yaml:2: constants.note_cap: the name 'note_cap' is taken by pack 'base'\n",
    ),
    Case(
        "a limit of units that is none",
        "types.yaml",
        "utf16_max: line_units",
        "utf16_max: line_unit",
        ("registry/types.yaml:16: types.line.utf16_max: unknown constant 'line_unit'; did you mean 'line_units'?\n"),
    ),
    Case(
        "a key that is no word of its enum",
        RANKING,
        "value: {low: 1,",
        "value: {lwo: 1,",
        (
            "registry/gateway/_ranking.yaml:4: tables.points.value: 'lwo' is not a value of "
            "gateway.level; did you mean 'low'?\n"
        ),
    ),
    Case(
        "a member that is no word of its enum",
        RANKING,
        "value: [high]",
        "value: [hihg]",
        (
            "registry/gateway/_ranking.yaml:5: tables.levels.value: 'hihg' is not a value of gateway.level; "
            "did you mean 'high'?\n"
            "registry/gateway/_surface.yaml:61: shapes.loud_client.fields.level.only: 'hihg' is not a value of "
            "gateway.level; did you mean 'high'?\n"
        ),
    ),
    Case(
        "a list of words that is none",
        SURFACE,
        "only: levels",
        "only: levles",
        (
            "registry/gateway/_surface.yaml:61: shapes.loud_client.fields.level.only: no table lists 'levles'; "
            "did you mean 'levels'?\n"
        ),
    ),
    Case(
        "a table that lists no words",
        SURFACE,
        "only: levels",
        "only: rules",
        "registry/gateway/_surface.yaml:61: shapes.loud_client.fields.level.only: no table lists 'rules'\n",
    ),
    Case(
        "keys of an unknown enum",
        RANKING,
        "keys: gateway.level, value: [high]",
        "keys: gateway.levle, value: [high]",
        (
            "registry/gateway/_ranking.yaml:5: tables.levels.keys: unknown enum 'gateway.levle'; did you "
            "mean 'gateway.level'?\n"
        ),
    ),
    Case(
        "keys of a text",
        RANKING,
        "genesis: {doc: Before the first.,",
        "genesis: {doc: Zeros., keys: gateway.level,",
        "registry/gateway/_ranking.yaml:9: tables.genesis.keys: only a map or a list has keys\n",
    ),
    Case(
        "a table named like the operations",
        RANKING,
        "  points:",
        "  operations:",
        ("registry/gateway/_ranking.yaml:4: tables.operations: the name 'operations' is taken by the module itself\n"),
    ),
    Case(
        "an unknown word of a table",
        RANKING,
        "genesis: {doc:",
        "genesis: {docs:",
        (
            "registry/gateway/_ranking.yaml:9: tables.genesis.docs: unknown word 'docs'; did you mean 'doc'?\n"
            "registry/gateway/_ranking.yaml:9: tables.genesis: the word 'doc' is missing\n"
        ),
    ),
    Case(
        "the scope of a run without a run",
        OPEN,
        "scope: global",
        "scope: run",
        "registry/gateway/open.yaml:6: scope: a write without {runId} in its path has the scope global\n",
    ),
    Case(
        "the global scope of a run",
        NOTE,
        "scope: run",
        "scope: global",
        "registry/gateway/note.yaml:5: scope: a write with {runId} in its path has the scope run\n",
    ),
    Case(
        "a write without a scope",
        OPEN,
        "scope: global\n",
        "",
        "registry/gateway/open.yaml:1: scope: a write without {runId} in its path has the scope global\n",
    ),
    Case(
        "a read with a scope",
        LIST,
        "path: /runs",
        "path: /runs\nscope: global",
        "registry/gateway/list.yaml:5: scope: an operation that reads has no scope\n",
    ),
    Case(
        "a read with a body",
        LIST,
        "query:",
        "params:",
        "registry/gateway/list.yaml:5: params: an operation that reads has no params\n",
    ),
    Case(
        "a write with a query",
        OPEN,
        "params:",
        "query:",
        "registry/gateway/open.yaml:7: query: an operation that writes has no query\n",
    ),
    Case(
        "a run twice in a path",
        READ,
        "/runs/{runId}",
        "/runs/{runId}/{runId}",
        "registry/gateway/read.yaml:4: path: {runId} stands in a path once\n",
    ),
    Case(
        "another field in a path",
        READ,
        "/runs/{runId}",
        "/runs/{run}",
        "registry/gateway/read.yaml:4: path: '/runs/{run}' is not spelt as ^(/([a-z]+|\\{runId\\}))+$\n",
    ),
    Case(
        "the state of no run",
        OPEN,
        "scope: global",
        "scope: global\nstate_first: true",
        "registry/gateway/open.yaml:7: state_first: without {runId} in its path there is no state to look at\n",
    ),
    Case(
        "a list in a query",
        LIST,
        "client: {type: line,",
        "client: {list: line,",
        "registry/gateway/list.yaml:6: query.client: a field of the query is one text or number\n",
    ),
    Case(
        "the version as a parameter",
        OPEN,
        "  metadata:",
        "  apiVersion:",
        "registry/gateway/open.yaml:10: params.apiVersion: every body has this field by itself\n",
    ),
    Case(
        "an unknown shape of an answer",
        READ,
        "shape: run",
        "shape: rnu",
        "registry/gateway/read.yaml:5: returns.shape: unknown shape 'rnu'; did you mean 'run'?\n",
    ),
    Case(
        "an unknown failure",
        OPEN,
        "failures: [conflict]",
        "failures: [conflct]",
        "registry/gateway/open.yaml:12: failures.0: unknown failure 'conflct'; did you mean 'conflict'?\n",
    ),
    Case(
        "a failure that it has anyway",
        OPEN,
        "failures: [conflict]",
        "failures: [conflict, backpressure]",
        "registry/gateway/open.yaml:12: failures.1: 'backpressure' is a failure of this operation already\n",
    ),
    Case(
        "a failure of the command line",
        OPEN,
        "failures: [conflict]",
        "failures: [partial_failure]",
        (
            "registry/gateway/open.yaml:12: failures.0: 'partial_failure' has no status; only the "
            "command line fails so\n"
        ),
    ),
    Case(
        "two operations of one name",
        READ,
        "operation: run.read",
        "operation: run.open",
        "registry/gateway/read.yaml:2: operation: the name is that of the operation 'open'\n",
    ),
    Case(
        "two operations of one path",
        READ,
        "path: /runs/{runId}",
        "path: /runs",
        "registry/gateway/read.yaml:4: path: method and path are those of the operation 'list'\n",
    ),
    Case(
        "an operation named like a verb",
        LIST,
        "operation: run.list",
        "operation: todo.list",
        "registry/packs/todo/list.yaml:1: the name 'todo.list' is taken by registry/gateway/list.yaml\n",
    ),
    Case(
        "a link to nowhere",
        OPEN,
        "to: note",
        "to: noet",
        "registry/gateway/open.yaml:14: links.0.to: unknown operation 'noet'; did you mean 'note'?\n",
    ),
    Case(
        "a link without the run",
        LIST,
        "returns: {shape: page}",
        "returns: {shape: page}\nlinks: [{to: read, doc: Read it.}]",
        "registry/gateway/list.yaml:10: links.0.to: 'read' needs the field runId, which page does not have\n",
    ),
    Case(
        "a default that is no constant",
        NOTE,
        "default: line_units",
        "default: line_unit",
        (
            "registry/gateway/note.yaml:12: params.budget.default: unknown constant 'line_unit'; did you "
            "mean 'line_units'?\n"
        ),
    ),
    Case(
        "a class for a shape and a body",
        SURFACE,
        "  page:\n",
        "  open_body: {doc: Nothing., fields: {}}\n  page:\n",
        ("registry/gateway/open.yaml:1: the class gateway.OpenBody is also made for the shape 'gateway.open_body'\n"),
    ),
    Case(
        "an example after an unknown operation",
        NOTE,
        "{operation: note, request",
        "{operation: noet, request",
        "registry/gateway/note.yaml:23: examples.1: unknown operation 'noet'; did you mean 'note'?\n",
    ),
    Case(
        "an example without a run",
        NOTE,
        SETUP,
        "    request: {text: hello}",
        "registry/gateway/note.yaml:17: examples.0: the setup opens no run first\n",
    ),
    Case(
        "an example that is not taken",
        NOTE,
        SETUP,
        SETUP.replace("text: hello", "txt: hello"),
        (
            "registry/gateway/note.yaml:17: examples.0: the request of run.note is refused at '/': "
            "Additional properties are not allowed ('txt' was unexpected)\n"
        ),
    ),
    Case(
        "an example of an unknown field",
        NOTE,
        "data: {notes:",
        "data: {note:",
        "registry/gateway/note.yaml:17: examples.0: the data has no field 'note'; did you mean 'notes'?\n",
    ),
    Case(
        "an example of an unknown reason",
        OPEN,
        "reason: closed",
        "reason: close",
        "registry/gateway/open.yaml:21: examples.1: unknown reason 'close'; did you mean 'closed'?\n",
    ),
    Case(
        "an example of another status",
        OPEN,
        "status: 409",
        "status: 404",
        "registry/gateway/open.yaml:21: examples.1: the operation has no failure of the status 404\n",
    ),
    Case(
        "a success with a reason",
        OPEN,
        "data: {startedIn: null}",
        "reason: closed",
        "registry/gateway/open.yaml:17: examples.0: a success has data and no reason\n",
    ),
    Case(
        "a failure with data",
        OPEN,
        "reason: closed",
        "data: {startedIn: null}",
        "registry/gateway/open.yaml:21: examples.1: a failure has a reason and no data\n",
    ),
    Case(
        "an example of the name of another one",
        OPEN,
        "name: closed",
        "name: plain",
        "registry/gateway/open.yaml:21: examples.1: the name 'plain' stands twice\n",
    ),
    Case(
        "no example",
        LIST,
        "examples:\n  - {name: none, request: {client: codex}, status: 200, data: {items: []}}\n",
        "",
        "registry/gateway/list.yaml:1: the word 'examples' is missing\n",
    ),
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The golden registry, free to be changed."""
    return copy_registry(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refusal(case: Case, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The generator says exactly this and writes nothing."""
    check(case, root, capsys)


def test_the_gateway_needs_its_surface(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What all operations share is no area that may be left out."""
    (root / "registry" / SURFACE).unlink()
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == "registry/gateway/_surface.yaml:1: the file is missing\n"


def test_no_pack_is_named_like_the_gateway(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their printed modules would have one name."""
    packs = root / "registry" / "packs"
    (packs / "gateway").mkdir()
    text = (packs / "todo" / "_pack.yaml").read_text(encoding="utf-8")
    head = text.partition("note_kinds:")[0]
    (packs / "gateway" / "_pack.yaml").write_text(head, encoding="utf-8")
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == (
        "registry/packs/gateway/_pack.yaml:1: the name of the agent event gateway is no name of a pack\n"
    )


def test_two_areas_cannot_have_a_table_of_one_name(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The tables of all areas are names of one module."""
    area = root / "registry" / "gateway" / "_advice.yaml"
    area.write_text("tables:\n  points: {doc: Others., value: {}}\n", encoding="utf-8")
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == (
        "registry/gateway/_ranking.yaml:4: tables.points: the name 'points' is taken by registry/gateway/_advice.yaml\n"
    )
