"""A bad contract is refused with the file, the line and what was meant. The wording is part of the promise.

Each case changes one place of the golden registry; the expected text is everything that the generator says.
"""

from pathlib import Path

import pytest

from support.refusals import Case, check, copy_registry
from tools.generate.__main__ import main

KEEP = "packs/base/keep.yaml"
FIND = "packs/base/find.yaml"
BASE = "packs/base/_pack.yaml"
TASKS = "packs/todo/_pack.yaml"
HTTP = "http.yaml"

CASES = (
    Case(
        "a slow verb that waits",
        FIND,
        "cost: slow",
        "cost: slow\nwait: true",
        "registry/packs/base/find.yaml:6: wait: only a quick verb with tx: read can wait\n",
    ),
    Case(
        "misspelt word",
        KEEP,
        "summary:",
        "sumary:",
        (
            "registry/packs/base/keep.yaml:1: sumary: unknown word 'sumary'; did you mean 'summary'?\n"
            "registry/packs/base/keep.yaml:1: the word 'summary' is missing\n"
        ),
    ),
    Case(
        "unknown type",
        KEEP,
        "tint: {type: tint,",
        "tint: {type: tnit,",
        ("registry/packs/base/keep.yaml:14: params.tint.type: unknown type 'tnit'; did you mean 'tint'?\n"),
    ),
    Case(
        "two forms at once",
        KEEP,
        "tint: {type: tint,",
        "tint: {type: tint, list: text,",
        (
            "registry/packs/base/keep.yaml:14: params.tint: say exactly one of type, list, map, any_of, shape, fields; "
            "here stand type and list\n"
        ),
    ),
    Case(
        "no form",
        KEEP,
        "tint: {type: tint,",
        "tint: {",
        (
            "registry/packs/base/keep.yaml:14: params.tint: say exactly one of type, list, map, any_of, shape, fields; "
            "here stand none of them\n"
        ),
    ),
    Case(
        "a value that the enum lacks",
        KEEP,
        "only: [good]",
        "only: [god]",
        (
            "registry/packs/base/keep.yaml:13: params.mood.default: the default 'good' is not a value of base.mood; "
            "did you mean 'god'?\n"
            "registry/packs/base/keep.yaml:13: params.mood.only: 'god' is not a value of base.mood; "
            "did you mean 'good'?\n"
        ),
    ),
    Case(
        "only without an enum",
        FIND,
        "query: {type: text,",
        "query: {type: text, only: [x],",
        ("registry/packs/base/find.yaml:8: params.query.only: 'only' narrows an enum, and 'text' is none\n"),
    ),
    Case(
        "required with a default",
        FIND,
        "limit: {type: count,",
        "limit: {type: count, required: true,",
        ("registry/packs/base/find.yaml:10: params.limit: a required parameter has no default\n"),
    ),
    Case(
        "a default of another type",
        FIND,
        "default: 10",
        "default: -1",
        "registry/packs/base/find.yaml:10: params.limit.default: the default -1 is not a whole number from 0\n",
    ),
    Case(
        "a bound that bounds nothing",
        KEEP,
        "limits: {max_items: 5}",
        "limits: {max: 5}",
        "registry/packs/base/keep.yaml:15: params.tags.limits.max: 'max' does not limit this value\n",
    ),
    Case(
        "an alias that is a name",
        KEEP,
        "aliases: [body]",
        "aliases: [tint]",
        ("registry/packs/base/keep.yaml:14: params.tint: the argument name 'tint' also means 'text'\n"),
    ),
    Case(
        "needs nothing known",
        KEEP,
        "needs: reply_to",
        "needs: reply",
        ("registry/packs/base/keep.yaml:17: params.at.needs: unknown parameter 'reply'; did you mean 'reply_to'?\n"),
    ),
    Case(
        "an unknown constant",
        FIND,
        "max: note_cap",
        "max: note_cup",
        (
            "registry/packs/base/find.yaml:10: params.limit.limits.max: unknown constant 'note_cup'; "
            "did you mean 'note_cap'?\n"
        ),
    ),
    Case(
        "a rule about nothing known",
        FIND,
        "exactly_one_of: [query, id]",
        "exactly_one_of: [qeury, id]",
        (
            "registry/packs/base/find.yaml:16: rules.0.exactly_one_of: unknown parameter 'qeury'; "
            "did you mean 'query'?\n"
        ),
    ),
    Case(
        "a rule that says two things",
        FIND,
        "{exactly_one_of: [query, id]}",
        "{exactly_one_of: [query, id], together: [query, id]}",
        ("registry/packs/base/find.yaml:16: rules.0: a rule says exactly one thing\n"),
    ),
    Case(
        "a write key of nothing known",
        KEEP,
        "{record: reply_to,",
        "{record: reply,",
        ("registry/packs/base/keep.yaml:31: writes.0: unknown parameter 'reply'; did you mean 'reply_to'?\n"),
    ),
    Case(
        "an unknown error",
        FIND,
        "errors: [record_missing]",
        "errors: [record_mising]",
        (
            "registry/packs/base/find.yaml:21: errors.0: unknown error 'record_mising'; "
            "did you mean 'record_missing'?\n"
            "registry/packs/base/find.yaml:24: examples.1: the verb declares no error of kind 'runtime_error'\n"
        ),
    ),
    Case(
        "an unknown shape",
        FIND,
        "list: {shape: note}",
        "list: {shape: noet}",
        ("registry/packs/base/find.yaml:18: returns.list.shape: unknown shape 'noet'; did you mean 'note'?\n"),
    ),
    Case(
        "a shape that extends itself",
        BASE,
        "extends: note",
        "extends: kept_note",
        ("registry/packs/base/_pack.yaml:28: shapes.kept_note.extends: 'kept_note' leads back to 'kept_note'\n"),
    ),
    Case(
        "an unknown category",
        FIND,
        "category: Assertive",
        "category: Asertive",
        ("registry/packs/base/find.yaml:2: category: unknown category 'Asertive'; did you mean 'Assertive'?\n"),
    ),
    Case(
        "a transaction word that does not exist",
        FIND,
        "tx: read",
        "tx: reads",
        (
            "registry/packs/base/find.yaml:4: tx: must be one of read, write, self, none, not 'reads'; "
            "did you mean 'read'?\n"
        ),
    ),
    Case(
        "a word of the wrong kind",
        FIND,
        "cost: slow",
        "cost: [slow]",
        ("registry/packs/base/find.yaml:5: cost: must be one of quick, slow, not ['slow']\n"),
    ),
    Case(
        "an empty text",
        FIND,
        "summary: Find notes.",
        "summary: ''",
        ("registry/packs/base/find.yaml:1: summary: is empty; fill it in\n"),
    ),
    Case(
        "a missing value",
        FIND,
        "summary: Find notes.",
        "summary:",
        ("registry/packs/base/find.yaml:1: a value is missing; write null when nothing is meant\n"),
    ),
    Case(
        "a key twice",
        FIND,
        "tx: read",
        "tx: read\ntx: write",
        ("registry/packs/base/find.yaml:5: the key 'tx' stands twice, first on line 4\n"),
    ),
    Case(
        "a comma that cuts a sentence",
        FIND,
        "doc: The note itself.",
        "doc: The note, itself.",
        ("registry/packs/base/find.yaml:9: a value is missing; write null when nothing is meant\n"),
    ),
    Case(
        "an anchor",
        FIND,
        "cost: slow",
        "cost: &slow slow",
        ("registry/packs/base/find.yaml:5: anchors and aliases are not allowed\n"),
    ),
    Case(
        "a tag",
        FIND,
        "cost: slow",
        "cost: !!str slow",
        ("registry/packs/base/find.yaml:5: the tag 'tag:yaml.org,2002:str' is not allowed\n"),
    ),
    Case(
        "no YAML",
        FIND,
        "params:",
        "params: [",
        ("registry/packs/base/find.yaml:9: not YAML: did not find expected ',' or ']'\n"),
    ),
    Case(
        "no refusal among the examples",
        FIND,
        "error: {kind: runtime_error, code: not_found}",
        "result: []",
        ("registry/packs/base/find.yaml:22: examples: no example shows a refusal\n"),
    ),
    Case(
        "an example of another verb",
        FIND,
        "call: 'find(query=\"x\")'",
        "call: 'fnd(query=\"x\")'",
        ("registry/packs/base/find.yaml:23: examples.0: the call does not begin with find(\n"),
    ),
    Case(
        "an example that refers forward",
        KEEP,
        "${1.id}",
        "${2.id}",
        (
            "registry/packs/base/keep.yaml:40: examples.1: '${2.id}' does not name the result of an earlier setup "
            "operation\n"
        ),
    ),
    Case(
        "an example with two outcomes",
        FIND,
        "result: []}",
        "result: [], error: {kind: invalid_input}}",
        (
            "registry/packs/base/find.yaml:22: examples: no example shows a success\n"
            "registry/packs/base/find.yaml:23: examples.0: say exactly one of result, error\n"
        ),
    ),
    Case(
        "an example with an undeclared code",
        FIND,
        "code: not_found",
        "code: gone",
        (
            "registry/packs/base/find.yaml:24: examples.1: the verb declares no error of kind 'runtime_error' and code "
            "'gone'\n"
        ),
    ),
    Case(
        "an alias to no value",
        BASE,
        "aliases: {fine: good}",
        "aliases: {fine: god}",
        (
            "registry/packs/base/_pack.yaml:12: enums.mood.aliases.fine: 'god' is not a value of the enum; "
            "did you mean 'good'?\n"
        ),
    ),
    Case(
        "a relation that does not exist",
        BASE,
        "relation: in,",
        "relation: inn,",
        ("registry/packs/base/_pack.yaml:6: edge_rules.0: unknown relation 'inn'; did you mean 'in'?\n"),
    ),
    Case(
        "a kind that does not exist",
        "relations.yaml",
        "[thing -> place,",
        "[thing -> palce,",
        ("registry/relations.yaml:3: relations.in.endpoints.0: unknown kind 'palce'; did you mean 'place'?\n"),
    ),
    Case(
        "an endpoint without an arrow",
        "relations.yaml",
        "[thing -> thing]",
        "[thing - thing]",
        (
            "registry/relations.yaml:4: relations.beside.endpoints.0: 'thing - thing' is not spelt as "
            "^([a-z][a-z0-9_]*|\\*) -> ([a-z][a-z0-9_]*|\\*)$\n"
        ),
    ),
    Case(
        "a pack that needs an unknown one",
        "packs/todo/_pack.yaml",
        "requires: [base]",
        "requires: [bas]",
        ("registry/packs/todo/_pack.yaml:5: requires.0: unknown pack 'bas'; did you mean 'base'?\n"),
    ),
    Case(
        "transitions of an unknown enum",
        TASKS,
        "transitions:\n  state:",
        "transitions:\n  stat:",
        ("registry/packs/todo/_pack.yaml:17: transitions.stat: unknown enum 'stat'; did you mean 'state'?\n"),
    ),
    Case(
        "a transition to a value that the enum lacks",
        TASKS,
        "open: [closed]",
        "open: [close]",
        (
            "registry/packs/todo/_pack.yaml:18: transitions.state.open: 'close' is not a value of todo.state; "
            "did you mean 'closed'?\n"
        ),
    ),
    Case(
        "a transition that leads nowhere",
        TASKS,
        "open: [closed]",
        "open: [open]",
        (
            "registry/packs/todo/_pack.yaml:18: transitions.state.open: 'open' leads to itself; "
            "staying is no transition\n"
        ),
    ),
    Case(
        "a value without transitions",
        TASKS,
        "    closed: []\n",
        "",
        (
            "registry/packs/todo/_pack.yaml:17: transitions.state: 'closed' is missing; "
            "a value from which nothing leads on has an empty list\n"
        ),
    ),
    Case(
        "a constant with a name that is taken",
        BASE,
        "  note_cap: {",
        "  max_ops: {value: 1, doc: Again.}\n  note_cap: {",
        ("registry/packs/base/_pack.yaml:8: constants.max_ops: the name 'max_ops' is taken by limits.yaml\n"),
    ),
    Case(
        "fields that would be named like a shape",
        BASE,
        "  bag:",
        "  keep_links_item: {doc: A link.}\n  bag:",
        (
            "registry/packs/base/keep.yaml:21: params.links.list.fields: the name 'keep_links_item' made for these "
            "fields is taken by a shape\n"
        ),
    ),
    Case(
        "a setting of an unknown type",
        "settings.yaml",
        "type: path",
        "type: pathh",
        (
            "registry/settings.yaml:2: settings.db.type: must be one of string, integer, number, boolean, path, list, "
            "not 'pathh'; did you mean 'path'?\n"
        ),
    ),
    Case(
        "a status that is no error",
        "errors.yaml",
        "code: not_found, http_status: 404",
        "code: not_found, http_status: 200",
        ("registry/errors.yaml:7: errors.record_missing.http_status: 200 is less than the minimum of 400\n"),
    ),
    Case(
        "a route that nobody is let in to",
        HTTP,
        "serves: live,",
        "serves: live, acess: open,",
        "registry/http.yaml:28: routes.alive.acess: unknown word 'acess'; did you mean 'access'?\n",
    ),
    Case(
        "a page without a file",
        HTTP,
        "file: docs/llms.txt, ",
        "",
        "registry/http.yaml:31: routes.llms: a route that serves page needs file\n",
    ),
    Case(
        "a file that is not served",
        HTTP,
        "serves: live,",
        "serves: live, file: docs/llms.txt,",
        "registry/http.yaml:28: routes.alive: a route that serves live has no file\n",
    ),
    Case(
        "a path twice",
        HTTP,
        "path: /ready",
        "path: /alive",
        "registry/http.yaml:29: routes.ready.path: the path is that of the route 'alive'\n",
    ),
    Case(
        "a verb route without the verb",
        HTTP,
        "path: /small/verbs/{verb}",
        "path: /small/verbs",
        "registry/http.yaml:10: routes.verb.path: a path holds {verb} when its route serves verb, and only then\n",
    ),
    Case(
        "two routes for verbs",
        HTTP,
        "serves: mcp,",
        "serves: verb, query: {},",
        (
            "registry/http.yaml:8: routes: exactly one route serves verb, not 2\n"
            "registry/http.yaml:27: routes.mcp.path: a path holds {verb} when its route serves verb, and only then\n"
        ),
    ),
    Case(
        "a header that does not exist",
        HTTP,
        "headers: [actor]\n    query",
        "headers: [acto]\n    query",
        "registry/http.yaml:16: routes.verb.headers.0: unknown header 'acto'; did you mean 'actor'?\n",
    ),
    Case(
        "a query field that is none of the tool",
        HTTP,
        "query: {presentation: verbose}",
        "query: {ops: verbose}",
        "registry/http.yaml:17: routes.verb.query.ops: 'ops' is no field of the tool with a list of values\n",
    ),
    Case(
        "a query default that is no value",
        HTTP,
        "query: {presentation: verbose}",
        "query: {presentation: verbos}",
        "registry/http.yaml:17: routes.verb.query.presentation: the default 'verbos' is not a value of presentation; "
        "did you mean 'verbose'?\n",
    ),
    Case(
        "an access with an unknown error",
        HTTP,
        "errors: [unauthorized]",
        "errors: [unauthorised]",
        "registry/http.yaml:3: access.token.errors.0: unknown error 'unauthorised'; did you mean 'unauthorized'?\n",
    ),
    Case(
        "a status without a sentence",
        HTTP,
        ", 503: Busy.}",
        "}",
        "registry/http.yaml:34: statuses: no sentence for 503, the status of the error 'busy'\n",
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


def test_a_missing_file_and_an_unknown_one_are_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The set of global files is fixed."""
    (root / "registry" / "limits.yaml").rename(root / "registry" / "limit.yaml")
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == (
        "registry/limit.yaml:1: no such sort of contract file\nregistry/limits.yaml:1: the file is missing\n"
    )


def test_a_name_means_one_verb(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two packs without prefix cannot both have a verb, and no verb is named like a route."""
    todo = root / "registry" / "packs" / "todo"
    pack = todo / "_pack.yaml"
    pack.write_text("bare: true\n" + pack.read_text(encoding="utf-8"), encoding="utf-8")
    text = (todo / "list.yaml").read_text(encoding="utf-8").replace("todo.list(", "list(")
    for name in ("find", "alive", "list"):
        (todo / f"{name}.yaml").write_text(text.replace("list(", f"{name}("), encoding="utf-8")
    (todo / "import.yaml").unlink()
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == (
        "registry/packs/todo/alive.yaml:1: the name 'alive' is taken by a route of registry/http.yaml\n"
        "registry/packs/todo/find.yaml:1: the name 'find' is taken by registry/packs/base/find.yaml\n"
    )


def test_all_faults_are_told_at_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One run lists the faults of every file, in the order of files and lines."""
    for name, old, new in ((FIND, "tx: read", "tx: reads"), (KEEP, "tx: write", "tx: writes")):
        path = root / "registry" / name
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert main(["--root", str(root)]) == 1
    places = [line.split(" ")[0] for line in capsys.readouterr().err.splitlines()]
    assert places == ["registry/packs/base/find.yaml:4:", "registry/packs/base/keep.yaml:8:"]
