"""The client of every test: it speaks to a server and checks each answer against the generated schemas.

Invariant: no answer is returned to a test unless it has the shape the contract promises and, for an error, a code that
the contract of its verb declares.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, reduce
from importlib import resources
from operator import getitem
from pathlib import Path
from typing import Any

import jsonschema_rs

import hivekeep_contract
from hivekeep.dispatch.run import Server, drive
from hivekeep.identity.caller import Caller, make_caller
from hivekeep.request import dsl
from hivekeep.request.envelope import parse_tool_call
from hivekeep.wiring import open_server
from hivekeep_contract import errors
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.settings import Settings

REFERENCE = re.compile(r"\$\{(\d+)\.([\w.]+)\}")
LOOKS_LIKE_REFERENCE = re.compile(r"\\?\$prev(\Z|[.\[])")
CODES = {
    cls.code
    for cls in vars(errors).values()
    if isinstance(cls, type) and issubclass(cls, errors.HivekeepError) and cls.code
}


@cache
def schemas() -> dict[str, Any]:
    """The generated schemas."""
    text = resources.files(hivekeep_contract).joinpath("schemas.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _validator(*path: str) -> Any:
    schema: Any = schemas()
    for step in path:
        schema = schema[step]
    return jsonschema_rs.Draft202012Validator({**schema, "$defs": schemas()["$defs"]})


def check_entry(entry: Mapping[str, Any], *, verbose: bool, help: bool = False) -> None:
    """Assert that one entry has the shape its verb promises; `verbose`: its result is canonical JSON."""
    if entry.get("aborted"):
        _validator("aborted_entry").validate(entry)
        return
    if not entry["ok"]:
        _validator("error_entry").validate(entry)
        assert entry["error"]["domain_disposition"] == entry["domain_disposition"]
        verb = VERBS.get(entry["tool"])
        code = entry["error"].get("code")
        assert code is None or code in CODES, f"undeclared code {code}"
        if verb is not None and code is not None:
            declared = {_class_of(name).code for name in verb.errors} | {"prev_reference_failed", "unknown_verb"}
            assert code in declared, f"{verb.name} answered {code}, which its contract does not declare"
        return
    if help:
        _validator("help").validate(entry["result"])
        return
    if verbose:
        _validator("results", entry["tool"]).validate(entry["result"])
        if entry["tool"] in schemas()["beside"]:
            beside = {key: value for key, value in entry.items() if key not in ("ok", "tool", "result", "advisories")}
            _validator("beside", entry["tool"]).validate(beside)


def _class_of(name: str) -> type[errors.HivekeepError]:
    cls: type[errors.HivekeepError] = getattr(errors, "".join(word.capitalize() for word in name.split("_")))
    return cls


def check_envelope(envelope: Mapping[str, Any], *, verbose: bool, help: bool = False) -> None:
    """Assert that a whole response is what the contract promises."""
    _validator("envelope").validate(envelope)
    for entry in envelope["results"]:
        check_entry(entry, verbose=verbose, help=help)


class Hive:
    """A server in this process, asked as one caller."""

    def __init__(self, server: Server, caller: Caller | None = None) -> None:
        self.server = server
        self.caller = caller or make_caller(None, None, ())

    def as_actor(self, actor: str | None, namespace: str | None = None, visible: Sequence[str] = ()) -> "Hive":
        """The same server, asked by somebody else."""
        return Hive(self.server, make_caller(actor, namespace, visible))

    def run(self, ops: str, **fields: Any) -> dict[str, Any]:
        """The checked envelope; `fields` are further fields of the tool call (presentation defaults to verbose)."""
        request = parse_tool_call({"ops": ops, **fields}, default_presentation="verbose")
        envelope = self.server.handle(request, self.caller, source="test")
        plain = not any(name in fields for name in ("presentation", "presentation_per_op", "format", "format_per_op"))
        if "save_to" not in fields:
            check_envelope(envelope, verbose=plain, help="help=true" in ops)
        return envelope

    def entry(self, ops: str, **fields: Any) -> dict[str, Any]:
        """The last entry of a request."""
        entry: dict[str, Any] = self.run(ops, **fields)["results"][-1]
        return entry

    def inside(self, ops: str) -> dict[str, Any]:
        """The last entry of operations of which some are internal verbs, asked as a part of the program asks them."""
        entry: dict[str, Any] = {}
        for op in dsl.parse(ops).ops:
            if op.verb not in VERBS or not VERBS[op.verb].internal:
                return self.entry(ops)
            answer = drive(self.server.call_verb(op.verb, op.args, self.caller, source="test", internal=True))
            entry = answer.entry
            check_entry(entry, verbose=True)
        return entry

    def ok(self, ops: str, **fields: Any) -> Any:
        """The result of the last operation, which must have succeeded."""
        entry = self.entry(ops, **fields)
        assert entry["ok"], entry
        return entry["result"]

    def fails(self, ops: str, **fields: Any) -> dict[str, Any]:
        """The error of the last operation, which must have failed."""
        entry = self.entry(ops, **fields)
        assert not entry["ok"], entry
        error: dict[str, Any] = entry["error"]
        return error

    def call(self, verb: str, /, **args: Any) -> Any:
        """The result of one operation given as Python values, which must have succeeded."""
        return self.ok(json.dumps([{"tool": verb, "args": literal(args)}]))

    def refuses(self, verb: str, /, **args: Any) -> dict[str, Any]:
        """The error of one operation given as Python values, which must have failed."""
        return self.fails(json.dumps([{"tool": verb, "args": literal(args)}]))

    def events(self, **filters: Any) -> list[dict[str, Any]]:
        """Events newest first, as list answers them."""
        items: list[dict[str, Any]] = self.call("list", kind="event", limit=1000, **filters)["items"]
        return items


@contextmanager
def open_hive(db: str | Path = ":memory:", **settings: Any) -> Iterator[Hive]:
    """A server on a database, closed at the end; `settings` are attributes of Settings.

    No embedder is registered unless `embedding_models` names one.
    """
    server = open_server(Settings(db=str(db), **{"embedding_models": (), **settings}), threaded=False)
    try:
        yield Hive(server)
    finally:
        server.engine.close()


def literal(value: Any) -> Any:
    """JSON values with each text that looks like a reference escaped, so that it stays text."""
    if isinstance(value, str):
        return "\\" + value if LOOKS_LIKE_REFERENCE.match(value) else value
    if isinstance(value, list):
        return [literal(item) for item in value]
    if isinstance(value, dict):
        return {key: literal(item) for key, item in value.items()}
    return value


def fill(text: str, results: Sequence[Any]) -> str:
    """Put fields of earlier results where `${1.id}` or `${1.session.id}` stands (1-based)."""
    return REFERENCE.sub(lambda match: str(reduce(getitem, match[2].split("."), results[int(match[1]) - 1])), text)


def filled(value: Any, results: Sequence[Any]) -> Any:
    """The same inside any JSON value."""
    if isinstance(value, str):
        return fill(value, results)
    if isinstance(value, list):
        return [filled(item, results) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, results) for key, item in value.items()}
    return value


def contains(actual: Any, expected: Any) -> bool:
    """Whether `actual` holds everything `expected` says: objects by subset, lists and scalars exactly."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and contains(actual[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(contains(a, e) for a, e in zip(actual, expected, strict=True))
        )
    return type(actual) is type(expected) and bool(actual == expected)
