"""The printed gateway does what its readers rely on, and the program says only what its words say."""

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NotRequired, get_args, get_origin, get_type_hints

import jsonschema_rs
import pytest

import hivekeep_contract
from hivekeep.agent.formats import FORMATS
from hivekeep_contract import gateway, gateway_errors, routes, vocabulary
from hivekeep_contract.gateway_errors import FAILURES, REASONS, Backpressure, Conflict, GatewayError, NotFound
from hivekeep_contract.handlers.gateway import GatewayHandlers
from hivekeep_contract.models import gateway as models
from tools.generate.build import HOME

PACKAGE = Path(hivekeep_contract.__file__).parent
SCHEMAS: dict[str, Any] = json.loads((PACKAGE / "schemas.json").read_text(encoding="utf-8"))
SOURCES = sorted((HOME / "runtime").rglob("*.py"))
CLASSES = {failure.__name__ for failure in FAILURES.values()}


class Raised(NamedTuple):
    """A failure that the program makes: its words, as far as they are written out."""

    reason: str
    field: str


def raised(tree: ast.Module) -> Iterator[Raised]:
    """Every construction of a failure in a module, by the classes that the module imports."""
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == gateway_errors.__name__
        for alias in node.names
        if alias.name in CLASSES
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported:
            named = {word.arg: word.value for word in node.keywords}
            reason = node.args[0] if node.args else named.get("reason")
            yield Raised(written(reason), written(named.get("field")))


def written(node: ast.expr | None) -> str:
    """A text as it is written out; nothing for one that is worked out."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def field_names() -> set[str]:
    """Every name of a field that the gateway takes, at any depth."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.update(node.get("properties", {}))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk([SCHEMAS["gateway"]["bodies"], SCHEMAS["gateway"]["queries"]])
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(HOME).as_posix())
def test_the_program_fails_with_words_of_the_contract(path: Path) -> None:
    """A reason that a module writes out is one that the contract explains; a place is a JSON pointer."""
    made = list(raised(ast.parse(path.read_text(encoding="utf-8"))))
    assert {found.reason for found in made} - {""} <= set(REASONS)
    assert [found.field for found in made if found.field and not found.field.startswith("/")] == []


def test_an_unknown_reason_would_be_found() -> None:
    """The walk sees positional and named words, under the name that the module gave the class."""
    code = (
        "from hivekeep_contract.gateway_errors import Conflict, NotFound as Gone\n"
        "raise Conflict('bad', field='task')\n"
        "raise Gone(reason='worse')\n"
        "raise Other('fine')\n"
    )
    assert list(raised(ast.parse(code))) == [Raised("bad", "task"), Raised("worse", "")]


def test_the_reasons_are_one_list() -> None:
    """The type that raise sites are checked by, the sentences and the vocabulary name the same words."""
    assert get_args(gateway_errors.Reason) == tuple(REASONS) == vocabulary.ENUMS["gateway.reason"]


def test_details_hold_words_and_places_only() -> None:
    """The seconds to wait, or the reason and the field, or nothing."""
    assert Conflict().details == {}
    assert Conflict("run_closed").details == {"reason": "run_closed"}
    assert NotFound("no_record", field="/entryId").details == {"reason": "no_record", "field": "/entryId"}
    assert Backpressure("busy", retry_after_s=3).details == {"retryAfterSeconds": 3}


def test_a_failure_tells_its_code_and_reason_and_no_more() -> None:
    """What a log would print of the exception is made of words of the contract."""
    assert str(Conflict("run_closed", field="/status")) == "CONFLICT: run_closed"
    assert str(Conflict()) == "CONFLICT"


@pytest.mark.parametrize(
    ("name", "code", "status", "exit_status"),
    [
        ("usage_error", "USAGE_ERROR", 400, 2),
        ("validation_error", "VALIDATION_ERROR", 400, 3),
        ("authentication_error", "AUTHENTICATION_ERROR", 401, 7),
        ("not_found", "NOT_FOUND", 404, 4),
        ("conflict", "CONFLICT", 409, 5),
        ("security_rejection", "SECURITY_REJECTION", 422, 7),
        ("backpressure", "BACKPRESSURE", 429, 6),
        ("integrity_error", "INTEGRITY_ERROR", 500, 8),
        ("unexpected_error", "DATABASE_ERROR", 500, 6),
        ("database_error", "DATABASE_ERROR", 503, 6),
        ("service_unavailable", "SERVICE_UNAVAILABLE", 503, 6),
    ],
)
def test_a_code_has_its_status_and_its_exit_status(name: str, code: str, status: int, exit_status: int) -> None:
    """The table of failures, as clients rely on it (gateway rules, envelopes)."""
    failure = FAILURES[name]
    assert (failure.code, failure.status, failure.exit_status) == (code, status, exit_status)
    assert failure.message


def test_every_failure_of_an_operation_has_a_class_and_a_status() -> None:
    """What an operation declares can be raised, and is answered by every operation that can meet it."""
    for operation in gateway.OPERATIONS.values():
        assert set(operation.failures) <= set(FAILURES)
        assert {"validation_error", "authentication_error", "unexpected_error"} <= set(operation.failures)
        assert ("not_found" in operation.failures) >= operation.has_run
        assert ("backpressure" in operation.failures) == operation.writes
    assert all(issubclass(failure, GatewayError) for failure in FAILURES.values())


def test_operations_are_those_of_the_interface() -> None:
    """Name, method, path and where a key counts (gateway rules, operation names)."""
    run = f"{gateway.BASE_PATH}/agent/runs"
    assert {
        name: (operation.http_method, operation.path.removeprefix(run), operation.scope)
        for name, operation in gateway.OPERATIONS.items()
    } == {
        "agent.open": ("POST", "", "global"),
        "agent.answer": ("POST", "/{runId}/intake/answers", "run"),
        "agent.events": ("POST", "/{runId}/events", "run"),
        "agent.checkpoint": ("POST", "/{runId}/checkpoints", "run"),
        "agent.close": ("POST", "/{runId}/close", "run"),
        "agent.feedback": ("POST", "/{runId}/feedback", "run"),
        "agent.promotions": ("POST", "/{runId}/promotions", "run"),
        "agent.runs.list": ("GET", "", "none"),
        "agent.run.read": ("GET", "/{runId}", "none"),
        "agent.intake.read": ("GET", "/{runId}/intake", "none"),
        "agent.events.list": ("GET", "/{runId}/events", "none"),
    }
    assert routes.GATEWAY_PREFIX == gateway.BASE_PATH


def test_protocol_models_and_schemas_name_the_same_operations() -> None:
    """One method, one type of body or query and three schemas for each operation."""
    methods = {name for name in vars(GatewayHandlers) if not name.startswith("_")}
    assert methods == {operation.stem for operation in gateway.OPERATIONS.values()}
    schemas = SCHEMAS["gateway"]
    assert {**schemas["bodies"], **schemas["queries"]}.keys() == gateway.OPERATIONS.keys()
    assert schemas["data"].keys() == schemas["success"].keys() == gateway.OPERATIONS.keys()
    for operation in gateway.OPERATIONS.values():
        part = "bodies" if operation.writes else "queries"
        schema = schemas[part][operation.name]
        name = operation.stem.title().replace("_", "") + ("Body" if operation.writes else "Query")
        typed = get_type_hints(getattr(models, name), include_extras=True)
        optional = {field for field, hint in typed.items() if get_origin(hint) is NotRequired}
        assert set(typed) - optional == set(schema.get("required", []))
        assert set(typed) == set(schema["properties"])
        assert inspect.signature(getattr(GatewayHandlers, operation.stem)).return_annotation.startswith("Generator")


def test_every_schema_of_the_gateway_compiles() -> None:
    """Bodies and queries stand alone, answers with the definitions of the document; formats are known."""
    schemas = SCHEMAS["gateway"]
    for schema in (*schemas["bodies"].values(), *schemas["queries"].values(), schemas["failure"]):
        jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)
    for schema in (*schemas["data"].values(), *schemas["success"].values()):
        whole = {**schema, "$defs": SCHEMAS["$defs"]}
        jsonschema_rs.Draft202012Validator(whole, validate_formats=True, formats=FORMATS)


def test_every_body_says_its_version_and_knows_its_fields() -> None:
    """A body without `apiVersion`, with another one, or with an unknown field is refused by its schema."""
    for name, schema in SCHEMAS["gateway"]["bodies"].items():
        assert schema["properties"]["apiVersion"]["enum"] == [gateway.API_VERSION], name
        assert "apiVersion" in schema["required"], name
        assert schema["additionalProperties"] is False, name
        assert all(shape["additionalProperties"] is False for shape in schema.get("$defs", {}).values()), name


def test_places_of_failures_name_known_fields() -> None:
    """A field that the program points at by name is one that some request has."""
    known = field_names()
    pointed: dict[str, set[str]] = {}
    for path in sorted((HOME / "runtime" / "hivekeep" / "agent" / "operations").glob("*.py")):
        for found in raised(ast.parse(path.read_text(encoding="utf-8"))):
            pointed.setdefault(path.name, set()).update(step for step in found.field.split("/")[1:] if step)
    assert {name: steps - known for name, steps in pointed.items() if steps - known} == {}
