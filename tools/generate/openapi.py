"""`openapi.json`: the HTTP surface in OpenAPI 3.1, with every status that a route can answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools.generate.examples import possible_errors
from tools.generate.model import Contract, EnumUse, Verb
from tools.generate.schemas import Schema, SchemaWriter, object_schema
from tools.generate.wire import ABORTED_ENTRY, advisories, dump, envelope, error_entry

_COMPONENTS = "#/components/schemas/"
_JSON = "application/json"
_PAGES = (
    ("/openapi.json", _JSON, "This document."),
    ("/docs", "text/html", "The reference as one page."),
    ("/llms.txt", "text/plain", "A short index for agents."),
    ("/llms-full.txt", "text/plain", "The reference and every guide in one text."),
    ("/md/api-reference.md", "text/markdown", "The reference as Markdown."),
)
_STATUS_NAMES = {
    400: "The request is not what the route takes.",
    401: "The bearer token is missing or wrong.",
    403: "Refused: a foreign Host or Origin, or the policy.",
    404: "Something that the request names does not exist.",
    405: "The path does not take this method.",
    409: "The state of the store is in the way.",
    413: "Too large.",
    415: "The body is not JSON.",
    422: "The text may not be stored.",
    500: "A fault of the server.",
    503: "Not available now.",
}


def emit_openapi(contract: Contract) -> dict[str, str]:
    """The document, by path."""
    return {"openapi.json": dump(document(contract))}


def document(contract: Contract) -> dict[str, Any]:
    """The whole description; operations are sorted by path."""
    surface = _Surface(contract)
    paths = {f"/api/v1/verbs/{verb.name}": {"post": surface.verb(verb)} for verb in contract.verbs if not verb.internal}
    paths["/api/v1/request"] = {"post": surface.request()}
    paths["/health/live"] = {"get": surface.health("live", "Tell that the process answers.", secured=False)}
    paths["/health/ready"] = {"get": surface.health("ready", "Tell whether requests are served.", secured=True)}
    for path, media_type, doc in _PAGES:
        paths[path] = {"get": surface.page(path, media_type, doc)}
    tags = [{"name": pack.title, "description": pack.summary} for pack in contract.packs]
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
        "tags": [*tags, {"name": "Server", "description": "The request tool, health and pages."}],
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
        self._transport = [name for name, entry in contract.errors.items() if entry.get("request_level")]

    def verb(self, verb: Verb) -> dict[str, Any]:
        """POST of one verb: the body is its arguments object, the answer one entry."""
        self._bodies[f"{verb.name}.args"] = object_schema(self._inputs, verb.params, verb.rules, verb.summary)
        self._bodies[f"{verb.name}.entry"] = self._success(verb)
        shown = {"anyOf": [_ref(f"{verb.name}.entry"), _ref("shaped_entry")]}
        return {
            "operationId": verb.name,
            "summary": verb.summary,
            "description": "\n\n".join(part for part in (verb.description, *verb.notes) if part) or verb.summary,
            "tags": [next(pack.title for pack in self._contract.packs if pack.name == verb.pack)],
            "parameters": [
                {"$ref": f"#/components/parameters/{name}"} for name in ("presentation", "format", "actor", "namespace")
            ],
            "requestBody": {"required": True, "content": {_JSON: {"schema": _ref(f"{verb.name}.args")}}},
            "responses": {
                "200": _response("The operation succeeded.", shown),
                **self._failures([*possible_errors(verb, self._contract.errors), *self._transport]),
            },
        }

    def request(self) -> dict[str, Any]:
        """POST of the one tool: 200 with one entry an operation; other statuses refuse the whole request."""
        tool = self._contract.data["request"]["tool"]
        contract = self._contract
        self._bodies["request"] = object_schema(self._inputs, contract.tool_params, (), tool["summary"])
        self._bodies["envelope"] = envelope(contract)
        self._bodies["manifest"] = MANIFEST
        shown = {"anyOf": [_ref("envelope"), _ref("manifest")]}
        return {
            "operationId": tool["name"],
            "summary": tool["summary"],
            "description": tool["description"],
            "tags": ["Server"],
            "parameters": [{"$ref": f"#/components/parameters/{name}"} for name in ("actor", "namespace")],
            "requestBody": {"required": True, "content": {_JSON: {"schema": _ref("request")}}},
            "responses": {
                "200": _response("One entry for each operation; with save_to, what was written.", shown),
                **self._failures([*self._transport, "internal", "storage_unavailable"]),
            },
        }

    def health(self, name: str, summary: str, *, secured: bool) -> dict[str, Any]:
        """GET of one health path."""
        schema: Schema = {
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": False,
        }
        answers = {"200": _response("It does.", schema)}
        if secured:
            answers["503"] = _response("The server is on its way out.", schema)
        return {
            **self._open(f"health_{name}", summary, secured=secured),
            "responses": self._with_guard(answers, secured),
        }

    def page(self, path: str, media_type: str, doc: str) -> dict[str, Any]:
        """GET of one printed page."""
        schema: Schema = {"type": "object"} if media_type == _JSON else {"type": "string"}
        answers = {"200": {"description": doc, "content": {media_type: {"schema": schema}}}}
        name = path.strip("/").replace("/", "_").replace(".", "_").replace("-", "_")
        return {**self._open(name, doc, secured=False), "responses": self._with_guard(answers, False)}

    def parameters(self) -> dict[str, Any]:
        """Query parameters of verb routes and the headers that say who is asking."""
        found: dict[str, Any] = {}
        defaults = {"presentation": "verbose", "format": "json"}
        for param in self._contract.tool_params:
            if param.name in defaults and isinstance(param.word.expr, EnumUse):
                words = list(param.word.expr.values)
                schema = {"type": "string", "enum": words, "default": defaults[param.name]}
                found[param.name] = {
                    "name": param.name,
                    "in": "query",
                    "description": param.doc,
                    "schema": schema,
                }
        headers = (
            ("actor", "Hivekeep-Actor", "Who is asking; the anonymous caller when absent."),
            ("namespace", "Hivekeep-Namespace", "Where writes go when a call names no namespace."),
        )
        for key, header, doc in headers:
            text: Schema = {"type": "string", "minLength": 1}
            found[key] = {"name": header, "in": "header", "description": doc, "schema": text}
        return found

    def schemas(self) -> dict[str, Schema]:
        """Every named schema that an operation refers to."""
        shaped = {
            "type": "object",
            "description": "A success in another presentation or format than verbose JSON.",
            "properties": {"ok": {"const": True}, "tool": {"type": "string"}},
            "required": ["ok", "tool"],
        }
        inputs = {f"{name}.input": schema for name, schema in self._inputs.definitions().items()}
        found = {
            **self._results.definitions(),
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

    def _open(self, name: str, summary: str, *, secured: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"operationId": name, "summary": summary, "tags": ["Server"]}
        return found if secured else {**found, "security": []}

    def _with_guard(self, answers: dict[str, Any], secured: bool) -> dict[str, Any]:
        names = ["foreign_origin", "method_not_allowed", "internal"]
        return {**answers, **self._failures([*names, "unauthorized"] if secured else names)}

    def _failures(self, names: Iterable[str]) -> dict[str, Any]:
        """Responses by status; each lists the errors that lead to it."""
        by_status: dict[int, list[str]] = {}
        wanted = set(names)
        for name, entry in self._contract.errors.items():
            if name in wanted:
                by_status.setdefault(entry["http_status"], []).append(name)
        return {
            str(status): _response(
                f"{_STATUS_NAMES.get(status, 'Refused.')} Errors: {', '.join(found)}.", _ref("error_entry")
            )
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


def _ref(name: str) -> Schema:
    return {"$ref": f"{_COMPONENTS}{name}"}


def _response(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {_JSON: {"schema": schema}}}
