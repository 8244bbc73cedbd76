"""The agent event gateway as JSON Schema: what each operation takes, and the two envelopes that it answers with."""

from __future__ import annotations

from typing import Any

from tools.generate.gateway import REASON, VERSION_FIELD
from tools.generate.model import Contract, Gateway, Operation
from tools.generate.schemas import Schema, SchemaWriter, args_schema


def gateway_schemas(contract: Contract, gateway: Gateway, writer: SchemaWriter) -> Schema:
    """All of them, by the name of the operation. `bodies` and `queries` stand alone; `writer` writes the answers."""
    writes = [operation for operation in gateway.operations if operation.writes]
    reads = [operation for operation in gateway.operations if not operation.writes]
    return {
        "bodies": {operation.name: _input(contract, operation) for operation in writes},
        "queries": {operation.name: _input(contract, operation) for operation in reads},
        "data": {operation.name: writer.word(operation.returns) for operation in gateway.operations},
        "success": {operation.name: success(gateway, operation, writer) for operation in gateway.operations},
        "failure": failure(contract, gateway),
    }


def success(gateway: Gateway, operation: Operation, writer: SchemaWriter) -> Schema:
    """The envelope of an operation that succeeded."""
    return {
        "type": "object",
        "properties": {
            VERSION_FIELD: {"const": gateway.api_version},
            "ok": {"const": True},
            "operation": {"const": operation.name},
            "data": writer.word(operation.returns),
            "meta": {"type": "object"},
        },
        "required": [VERSION_FIELD, "ok", "operation", "data", "meta"],
        "additionalProperties": False,
    }


def failure(contract: Contract, gateway: Gateway) -> Schema:
    """The envelope of any failure; the message and the status belong to the code."""
    answered = [found for found in gateway.failures.values() if found.status is not None]
    reason: Schema = {
        "type": "string",
        "enum": list(contract.enums[REASON].values),
        "description": "Why.",
    }
    details: dict[str, Any] = {
        "reason": reason,
        "field": {"type": "string", "pattern": "^/", "description": "The field, as a JSON pointer into the request."},
        "retryAfterSeconds": {"type": "integer", "minimum": 1, "description": "When to send the request again."},
    }
    return {
        "type": "object",
        "properties": {
            VERSION_FIELD: {"const": gateway.api_version},
            "ok": {"const": False},
            "operation": {"type": "string", "description": "The operation, as far as the path names one."},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "enum": list(dict.fromkeys(found.code for found in answered))},
                    "message": {"type": "string", "enum": list(dict.fromkeys(found.message for found in answered))},
                    "details": {"type": "object", "properties": details, "additionalProperties": False},
                },
                "required": ["code", "message", "details"],
                "additionalProperties": False,
            },
        },
        "required": [VERSION_FIELD, "ok", "operation", "error"],
        "additionalProperties": False,
    }


def _input(contract: Contract, operation: Operation) -> Schema:
    return args_schema(contract, operation.params, operation.rules, operation.summary, "body")
