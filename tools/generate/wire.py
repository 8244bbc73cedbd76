"""The JSON files of the package: `schemas.json`, `examples.json` and `gateway_examples.json`."""

from __future__ import annotations

import json
from typing import Any

from tools.generate.gateway_examples import gateway_examples
from tools.generate.gateway_wire import gateway_schemas
from tools.generate.model import Contract
from tools.generate.schemas import Schema, SchemaWriter, args_schema

_SHAPES = "#/$defs/"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def emit_wire(contract: Contract) -> dict[str, str]:
    """Each file, by path."""
    found = {"schemas.json": dump(schemas(contract)), "examples.json": dump(examples(contract))}
    if contract.gateway:
        found["gateway_examples.json"] = dump(gateway_examples(contract.gateway))
    return found


def dump(value: Any) -> str:
    """JSON as it is committed: readable diffs, UTF-8, one newline at the end."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def schemas(contract: Contract) -> Schema:
    """Every schema. Those of `args` stand alone, the others refer to `$defs` of this document."""
    writer = SchemaWriter(contract, "result", _SHAPES.__add__)
    verbs = contract.verbs
    found: Schema = {
        "$schema": _DIALECT,
        "request": tool_schema(contract),
        "args": {verb.name: args_schema(contract, verb.params, verb.rules, verb.summary) for verb in verbs},
        "results": {verb.name: writer.word(verb.returns) for verb in verbs},
        "beside": {verb.name: writer.fields(verb.beside) for verb in verbs if verb.beside},
        "help": writer.fields(contract.help_fields),
        "error_entry": error_entry(contract),
        "aborted_entry": ABORTED_ENTRY,
        "envelope": envelope(contract),
    }
    if contract.gateway:
        found["gateway"] = gateway_schemas(contract, contract.gateway, writer)
    found["$defs"] = writer.definitions()
    return found


def tool_schema(contract: Contract) -> Schema:
    """The input schema of the one tool."""
    return args_schema(contract, contract.tool_params, (), contract.data["request"]["tool"]["summary"])


def error_entry(contract: Contract) -> Schema:
    """The entry of an operation that failed."""
    disposition = {
        "type": "string",
        "enum": list(contract.data["errors"]["dispositions"]),
        "description": "Whether the operation took effect.",
    }
    return {
        "type": "object",
        "properties": {
            "ok": {"const": False},
            "tool": {"type": ["string", "null"], "description": "The verb; null when no verb was reached."},
            "executed": {
                "type": "boolean",
                "description": "True when the operation ran but its result is not shown.",
            },
            "domain_disposition": disposition,
            "error": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": sorted({e["kind"] for e in contract.errors.values()})},
                    "code": {"type": "string", "description": "The situation, more exact than kind."},
                    "message": {"type": "string", "description": "What happened, for people."},
                    "domain_disposition": disposition,
                    "retryable": {"type": "boolean", "description": "Whether the same call may succeed later."},
                    "details": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "maxProperties": contract.data["limits"]["limits"]["error_details_max"]["value"],
                        "description": "Facts about the situation.",
                    },
                },
                "required": ["kind", "message", "domain_disposition"],
            },
            "advisories": advisories(contract),
        },
        "required": ["ok", "tool", "domain_disposition", "error"],
        "additionalProperties": False,
    }


ABORTED_ENTRY: Schema = {
    "type": "object",
    "properties": {
        "ok": {"const": False},
        "tool": {"type": "string"},
        "aborted": {"const": True},
        "domain_disposition": {"const": "not_committed"},
        "message": {"type": "string"},
    },
    "required": ["ok", "tool", "aborted", "domain_disposition", "message"],
    "additionalProperties": False,
}


def advisories(contract: Contract) -> Schema:
    """Warnings beside a result, some of them with counts."""
    known = contract.data["request"]["advisories"]
    counts = {
        name: {"type": "integer", "minimum": 0, "description": doc}
        for entry in known.values()
        for name, doc in entry.get("counts", {}).items()
    }
    return {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "enum": list(known)},
                "severity": {"type": "string"},
                "component": {"type": "string"},
                "reason": {"type": "string"},
                "message": {"type": "string"},
                **counts,
            },
            "required": ["code", "severity", "component", "reason", "message"],
            "additionalProperties": False,
        },
    }


def envelope(contract: Contract) -> Schema:
    """The answer to a request: one entry for each operation, in the order of the call."""
    names = [verb.name for verb in contract.verbs]
    success = {
        "type": "object",
        "properties": {"ok": {"const": True}, "tool": {"type": "string", "enum": names}},
        "required": ["ok", "tool", "result"],
    }
    count = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "properties": {
            "results": {"type": "array", "items": {"anyOf": [success, error_entry(contract), ABORTED_ENTRY]}},
            "summary": {
                "type": "object",
                "properties": dict.fromkeys(("total", "succeeded", "failed", "aborted"), count),
                "required": ["total", "succeeded", "failed", "aborted"],
                "additionalProperties": False,
            },
            "status": {"type": "string", "enum": ["success", "partial"]},
        },
        "required": ["results", "summary", "status"],
        "additionalProperties": False,
    }


def examples(contract: Contract) -> list[dict[str, Any]]:
    """All examples, flat, for tests to run."""
    return [
        {"pack": verb.pack, "verb": verb.name, "setup": [], **example}
        for verb in contract.verbs
        for example in verb.examples
    ]
