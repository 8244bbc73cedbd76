"""The generated package does what its readers rely on."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis

import hivekeep_contract
from hivekeep_contract import catalog, errors, gateway, reference, routes, settings, vocabulary

PACKAGE = Path(hivekeep_contract.__file__).parent
SCHEMAS: dict[str, Any] = json.loads((PACKAGE / "schemas.json").read_text(encoding="utf-8"))


def test_importing_catalog_errors_and_limits_loads_only_typing() -> None:
    """The modules on the start-up path bring no dataclasses, enum, re or json with them."""
    program = (
        "import sys, typing, collections.abc\n"
        "before = set(sys.modules)\n"
        "import hivekeep_contract.catalog, hivekeep_contract.errors, hivekeep_contract.limits\n"
        "import hivekeep_contract.request, hivekeep_contract.vocabulary, hivekeep_contract.presentation\n"
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('hivekeep_contract')))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_details_are_texts() -> None:
    """Numbers, truth values and null become the words that JSON has for them."""
    error = errors.NotFound("gone", details={"id": "x", "count": 2, "found": False, "more": None})
    assert error.details == {"id": "x", "count": "2", "found": "false", "more": "null"}


@pytest.mark.parametrize(("given", "kept", "dropped"), [(8, 8, None), (9, 7, "2"), (20, 7, "13")])
def test_details_are_at_most_eight_pairs(given: int, kept: int, dropped: str | None) -> None:
    """A ninth pair turns the eighth place into the number of pairs that were left out."""
    details = errors.NotFound("gone", details={f"k{n}": n for n in range(given)}).details
    assert details.pop("details_truncated", None) == dropped
    assert details == {f"k{n}": str(n) for n in range(kept)}


def test_the_body_of_an_error() -> None:
    """kind, code, message; details, retryable and further fields only where there are any."""
    assert errors.NotFound("gone").body() == {"kind": "not_found", "code": "not_found", "message": "gone"}
    busy = errors.WriterQueueFull("full", details={"a": 1}, stage="queue", timeout_ms=2000)
    assert busy.body() == {
        "kind": "unavailable",
        "code": "writer_queue_full",
        "message": "full",
        "details": {"a": "1"},
        "retryable": True,
        "stage": "queue",
        "timeout_ms": 2000,
    }
    assert (busy.http_status, busy.no_write, str(busy)) == (503, True, "full")


def test_a_field_named_code_replaces_the_code() -> None:
    """One instance may name its situation more exactly; the class stays as it is."""
    error = errors.Internal("a fault", code="fault_in_audit")
    assert (error.body()["code"], errors.Internal.code) == ("fault_in_audit", "internal")


def test_every_error_of_a_verb_has_a_class_and_a_sentence() -> None:
    """The catalog, the classes and the prose speak of the same errors."""
    named = {name for verb in catalog.VERBS.values() for name in verb.errors}
    assert named <= set(errors.ERRORS) == set(reference.ERRORS)


def test_every_schema_compiles_and_rules_stand_in_the_same_order() -> None:
    """Each argument schema is a valid 2020-12 schema; rule n of the prose is member n of its allOf."""
    for name, schema in SCHEMAS["args"].items():
        jsonschema_rs.Draft202012Validator(schema)
        says = [part["description"] for part in schema.get("allOf", [])]
        assert says == [rule.says for rule in reference.RULES.get(name, ())]
    for section in ("results", "beside"):
        for schema in SCHEMAS[section].values():
            jsonschema_rs.Draft202012Validator({**schema, "$defs": SCHEMAS["$defs"]})


def test_catalog_prose_schemas_and_routes_name_the_same_verbs() -> None:
    """No verb is missing anywhere; internal ones have no route."""
    verbs = set(catalog.VERBS)
    assert set(reference.VERBS) == set(SCHEMAS["args"]) == set(SCHEMAS["results"]) == verbs
    pattern = routes.ROUTES["verb"]
    own = {name: route.path for name, route in routes.ROUTES.items() if route.serves == "verb" and route != pattern}
    callable_verbs = [verb for verb in verbs if not catalog.VERBS[verb].internal]
    assert own == {verb: pattern.path.format(verb=verb) for verb in callable_verbs}


def test_openapi_is_valid_and_complete() -> None:
    """The document passes the OpenAPI 3.1 schema and has one operation for each route and each of the gateway."""
    document = json.loads((PACKAGE / "openapi.json").read_text(encoding="utf-8"))
    schema = schemathesis.openapi.from_dict(document)
    schema.validate()
    found = [operation.ok() for operation in schema.get_all_operations()]
    left_out = {routes.ROUTES["verb"], routes.ROUTES["mcp"]}
    own = [(route.method, route.path) for route in routes.ROUTES.values() if route not in left_out]
    own += [(operation.http_method, operation.path) for operation in gateway.OPERATIONS.values()]
    assert sorted((operation.method.upper(), operation.path) for operation in found) == sorted(own)


def test_every_page_that_a_route_serves_is_in_the_package() -> None:
    """A route of a page names a printed file, and each media type fits it."""
    pages = [route for route in routes.ROUTES.values() if route.serves == "page"]
    assert {Path(page.file).suffix: page.media_type for page in pages} == {
        ".json": "application/json",
        ".html": "text/html",
        ".txt": "text/plain",
        ".md": "text/markdown",
    }
    assert [page.file for page in pages if not (PACKAGE / page.file).is_file()] == []


def test_settings_rows_and_class_agree() -> None:
    """Each row has an attribute with its default, an own variable, and no variable means two settings."""
    values = settings.Settings()
    assert [row.attr for row in settings.SETTINGS] == list(settings.Settings.__slots__)
    assert {row.attr: row.default for row in settings.SETTINGS} == {
        row.attr: getattr(values, row.attr) for row in settings.SETTINGS
    }
    variables = [name for row in settings.SETTINGS for name in (*row.env, *row.env_aliases)]
    assert len(variables) == len(set(variables))


def test_relations_and_endpoints_agree() -> None:
    """Every endpoint speaks of a known relation and known kinds."""
    kinds = {"*", *vocabulary.ENTITY_KINDS, *vocabulary.NOTE_KINDS}
    endpoints = set(vocabulary.ENDPOINTS).union(*vocabulary.PACK_ENDPOINTS.values())
    assert {relation for relation, _, _ in endpoints} <= set(vocabulary.RELATIONS)
    assert {kind for _, source, target in endpoints for kind in (source, target)} <= kinds
