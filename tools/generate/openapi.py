"""`openapi.json`: the HTTP surface in OpenAPI 3.1, with every status that a route can answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools.generate.examples import possible_errors
from tools.generate.gateway_openapi import GatewayPaths
from tools.generate.model import Contract, EnumUse, Route, Verb
from tools.generate.schemas import Schema, SchemaWriter, object_schema
from tools.generate.surface import verb_routes
from tools.generate.wire import ABORTED_ENTRY, advisories, dump, envelope, error_entry

_COMPONENTS = "#/components/schemas/"
_PARAMETERS = "#/components/parameters/"
_JSON = "application/json"
_SERVER_TAG = "Server"


def emit_openapi(contract: Contract) -> dict[str, str]:
    """The document, by path."""
    return {"openapi.json": dump(document(contract))}


def document(contract: Contract) -> dict[str, Any]:
    """The whole description; operations are sorted by path."""
    surface = _Surface(contract)
    verbs = {verb.name: verb for verb in contract.verbs}
    operations = [(route, surface.verb(route, verbs[route.name])) for route in verb_routes(contract)]
    # messages of MCP are described by its specification, and each verb has a route of its own
    operations += [(route, surface.route(route)) for route in contract.routes if route.serves not in ("mcp", "verb")]
    paths: dict[str, dict[str, Any]] = {}
    for path, method, operation in (
        *((route.path, route.method.lower(), operation) for route, operation in operations),
        *surface.gateway_operations(),
    ):
        paths.setdefault(path, {})[method] = operation
    tags = [{"name": pack.title, "description": pack.summary} for pack in contract.packs]
    if contract.gateway:
        tags.append({"name": contract.gateway.title, "description": contract.gateway.summary})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hivekeep",
            "version": "1",
            "summary": contract.data["request"]["tool"]["summary"],
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [*tags, {"name": _SERVER_TAG, "description": "The request tool, health and pages."}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The capability token of the server's runtime descriptor.",
                }
            },
            "parameters": surface.parameters(),
            "schemas": surface.schemas(),
        },
    }


class _Surface:
    """Builds operations; collects the shapes that they refer to."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._results = SchemaWriter(contract, "result", _COMPONENTS.__add__)
        self._inputs = SchemaWriter(contract, "wire", lambda name: f"{_COMPONENTS}{name}.input")
        self._bodies: dict[str, Schema] = {}
        self._gateway = (
            GatewayPaths(contract, contract.gateway, self._results, _COMPONENTS.__add__, _PARAMETERS.__add__)
            if contract.gateway
            else None
        )

    def gateway_operations(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Path, method and description of each operation of the gateway."""
        return self._gateway.operations() if self._gateway else []

    def verb(self, route: Route, verb: Verb) -> dict[str, Any]:
        """The route of one verb: the body is its arguments object, the answer one entry."""
        self._bodies[f"{verb.name}.args"] = object_schema(self._inputs, verb.params, verb.rules, verb.summary)
        self._bodies[f"{verb.name}.entry"] = self._success(verb)
        shown = {"anyOf": [_ref(f"{verb.name}.entry"), _ref("shaped_entry")]}
        return {
            "operationId": verb.name,
            "summary": verb.summary,
            "description": "\n\n".join(part for part in (verb.description, *verb.notes) if part) or verb.summary,
            "tags": [next(pack.title for pack in self._contract.packs if pack.name == verb.pack)],
            "parameters": _parameters(route),
            "requestBody": {"required": True, "content": {_JSON: {"schema": _ref(f"{verb.name}.args")}}},
            "responses": {
                "200": _response("The operation succeeded.", shown),
                **self._failures([*possible_errors(verb, self._contract.errors), *route.errors]),
            },
        }

    def route(self, route: Route) -> dict[str, Any]:
        """Any other route, with the answers of what serves it."""
        answers = {
            "tool": self._tool,
            "live": self._health,
            "ready": self._ready,
            "page": self._page,
            "redirect": self._redirect,
        }[route.serves]
        operation: dict[str, Any] = {"operationId": route.name, "summary": route.summary, "tags": [_SERVER_TAG]}
        if route.doc:
            operation["description"] = route.doc
        if route.headers:
            operation["parameters"] = _parameters(route)
        if route.serves == "tool":
            tool = self._contract.data["request"]["tool"]
            operation["summary"] = tool["summary"]
            operation["description"] = "\n\n".join(part for part in (tool["description"], route.doc) if part)
            operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": _ref("request")}}}
        if route.access == "open":
            operation["security"] = []
        # an answer of the route itself stands before an error of the same status
        operation["responses"] = dict(sorted((self._failures(route.errors) | answers(route)).items()))
        return operation

    def _tool(self, _route: Route) -> dict[str, Any]:
        contract = self._contract
        summary = contract.data["request"]["tool"]["summary"]
        self._bodies["request"] = object_schema(self._inputs, contract.tool_params, (), summary)
        self._bodies["envelope"] = envelope(contract)
        self._bodies["manifest"] = MANIFEST
        shown = {"anyOf": [_ref("envelope"), _ref("manifest")]}
        return {"200": _response("One entry for each operation; with save_to, what was written.", shown)}

    def _health(self, route: Route) -> dict[str, Any]:
        schema: Schema = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
        return {status: _response(doc, schema) for status, doc in route.answers.items()}

    def _ready(self, route: Route) -> dict[str, Any]:
        """As of any probe; a gateway tells who has no token in its own envelope."""
        told = self._health(route)
        if self._gateway is not None:
            sentence = self._contract.data["http"]["statuses"]["401"]
            told["401"] = _response(sentence, _ref("gateway.failure"))
        return told

    def _page(self, route: Route) -> dict[str, Any]:
        schema: Schema = {"type": "object"} if route.media_type == _JSON else {"type": "string"}
        return {"200": {"description": route.summary, "content": {route.media_type: {"schema": schema}}}}

    def _redirect(self, route: Route) -> dict[str, Any]:
        location = {"description": "Where it is.", "schema": {"const": route.to}}
        return {"302": {"description": route.summary, "headers": {"Location": location}}}

    def parameters(self) -> dict[str, Any]:
        """Query parameters of verb routes and the headers that say who is asking."""
        query = next(route.query for route in self._contract.routes if route.serves == "verb")
        found: dict[str, Any] = {}
        for param in self._contract.tool_params:
            if param.name in query and isinstance(param.word.expr, EnumUse):
                words = list(param.word.expr.values)
                schema = {"type": "string", "enum": words, "default": query[param.name]}
                found[param.name] = {"name": param.name, "in": "query", "description": param.doc, "schema": schema}
        for key, header in self._contract.data["http"]["headers"].items():
            text: Schema = {"type": "string", "minLength": 1}
            found[key] = {"name": header["name"], "in": "header", "description": header["doc"], "schema": text}
        return found | (self._gateway.parameters() if self._gateway else {})

    def schemas(self) -> dict[str, Schema]:
        """Every named schema that an operation refers to."""
        shaped = {
            "type": "object",
            "description": "A success in another presentation or format than verbose JSON.",
            "properties": {"ok": {"const": True}, "tool": {"type": "string"}},
            "required": ["ok", "tool"],
        }
        inputs = {f"{name}.input": schema for name, schema in self._inputs.definitions().items()}
        gateway = self._gateway.schemas() if self._gateway else {}
        found = {
            **self._results.definitions(),
            **gateway,
            **inputs,
            **self._bodies,
            "shaped_entry": shaped,
            "error_entry": error_entry(self._contract),
            "aborted_entry": ABORTED_ENTRY,
        }
        return dict(sorted(found.items()))

    def _success(self, verb: Verb) -> Schema:
        """The entry of a success as verbose JSON."""
        beside = self._results.fields(verb.beside)
        return {
            "type": "object",
            "properties": {
                "ok": {"const": True},
                "tool": {"const": verb.name},
                "result": self._results.word(verb.returns),
                **beside["properties"],
                "advisories": advisories(self._contract),
            },
            "required": ["ok", "tool", "result", *beside["required"]],
            "additionalProperties": False,
        }

    def _failures(self, names: Iterable[str]) -> dict[str, Any]:
        """Responses by status; each lists the errors that lead to it."""
        sentences = self._contract.data["http"]["statuses"]
        by_status: dict[int, list[str]] = {}
        wanted = set(names)
        for name, entry in self._contract.errors.items():
            if name in wanted:
                by_status.setdefault(entry["http_status"], []).append(name)
        return {
            str(status): _response(f"{sentences[str(status)]} Errors: {', '.join(found)}.", _ref("error_entry"))
            for status, found in sorted(by_status.items())
        }


MANIFEST: Schema = {
    "type": "object",
    "description": "What save_to wrote.",
    "properties": {
        "path": {"type": "string"},
        "rows": {"type": "integer", "minimum": 0},
        "per_column_null_counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "schema_fingerprint": {"type": "string"},
        "checksum": {"type": "string"},
        "summary": {"type": "object"},
        "failures": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["path", "rows", "per_column_null_counts", "schema_fingerprint", "checksum", "summary"],
}


def _parameters(route: Route) -> list[dict[str, str]]:
    return [{"$ref": f"{_PARAMETERS}{name}"} for name in (*route.query, *route.headers)]


def _ref(name: str) -> Schema:
    return {"$ref": f"{_COMPONENTS}{name}"}


def _response(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {_JSON: {"schema": schema}}}
