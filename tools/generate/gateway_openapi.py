"""The agent event gateway in OpenAPI: its paths, its parameters, and links from an answer to what may come next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tools.generate.gateway_examples import sent
from tools.generate.gateway_wire import failure, success
from tools.generate.model import RUN_ID, Contract, Failure, Gateway, Link, Operation, Param
from tools.generate.schemas import Schema, SchemaWriter, object_schema, param_schema

_JSON = "application/json"
_FAILURE = "gateway.failure"
_KEY = "idempotency_key"


class GatewayPaths:
    """Builds the operations. `answers` writes what they answer; `schema` and `parameter` say where one stands."""

    def __init__(
        self,
        contract: Contract,
        gateway: Gateway,
        answers: SchemaWriter,
        schema: Callable[[str], str],
        parameter: Callable[[str], str],
    ) -> None:
        self._contract = contract
        self._gateway = gateway
        self._answers = answers
        self._inputs = SchemaWriter(contract, "body", lambda name: schema(f"{name}.input"))
        self._schema = schema
        self._parameter = parameter

    def operations(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Path, method and description of each."""
        return [(found.path, found.method.lower(), self._operation(found)) for found in self._gateway.operations]

    def parameters(self) -> dict[str, Any]:
        """The parameters that operations share."""
        run = self._beside(self._gateway.run_id, "path")
        return {RUN_ID: run, _KEY: self._beside(self._gateway.key_header, "header")}

    def schemas(self) -> dict[str, Schema]:
        """Bodies and envelopes, and the objects inside bodies."""
        found: dict[str, Schema] = {_FAILURE: failure(self._contract, self._gateway)}
        for operation in self._gateway.operations:
            found[f"{operation.name}.success"] = success(self._gateway, operation, self._answers)
            if operation.writes:
                body = object_schema(self._inputs, operation.params, operation.rules, operation.summary)
                found[f"{operation.name}.body"] = body
        return found | {f"{name}.input": schema for name, schema in self._inputs.definitions().items()}

    def _operation(self, operation: Operation) -> dict[str, Any]:
        shared = [RUN_ID] * operation.has_run + [_KEY] * operation.writes
        parameters: list[dict[str, Any]] = [{"$ref": self._parameter(name)} for name in shared]
        if not operation.writes:
            parameters += [self._beside(field, "query") for field in operation.params]
        described: dict[str, Any] = {
            "operationId": operation.name,
            "summary": operation.summary,
            "description": operation.description or operation.summary,
            "tags": [self._gateway.title],
            "parameters": parameters,
        }
        if operation.writes:
            described["requestBody"] = {"required": True, "content": {_JSON: self._body(operation)}}
        return {**described, "responses": {"200": self._success(operation), **self._failures(operation)}}

    def _body(self, operation: Operation) -> dict[str, Any]:
        working = [example for example in operation.examples if "data" in example]
        examples = {example["name"]: {"value": sent(self._gateway, operation, example)} for example in working}
        return {"schema": self._ref(f"{operation.name}.body"), "examples": examples}

    def _success(self, operation: Operation) -> dict[str, Any]:
        content = {_JSON: {"schema": self._ref(f"{operation.name}.success")}}
        answer: dict[str, Any] = {"description": "The operation succeeded.", "content": content}
        if operation.links:
            answer["links"] = {link.to: self._link(link) for link in operation.links}
        return answer

    def _link(self, link: Link) -> dict[str, Any]:
        target = next(found for found in self._gateway.operations if found.stem == link.to)
        linked: dict[str, Any] = {"operationId": target.name, "description": link.doc}
        if target.has_run:
            linked["parameters"] = {RUN_ID: f"$response.body#/data/{RUN_ID}"}
        return linked

    def _failures(self, operation: Operation) -> dict[str, Any]:
        """Responses by status; each tells the codes that lead to it."""
        by_status: dict[int, list[Failure]] = {}
        for name in operation.failures:
            failed = self._gateway.failures[name]
            if failed.status is not None:
                by_status.setdefault(failed.status, []).append(failed)
        return {str(status): self._failure(found) for status, found in sorted(by_status.items())}

    def _failure(self, found: list[Failure]) -> dict[str, Any]:
        texts = [f"{failed.code}: {failed.doc}" for failed in found]
        response: dict[str, Any] = {"description": " ".join(texts), "content": {_JSON: {"schema": self._ref(_FAILURE)}}}
        if any(failed.retry for failed in found):
            retry = self._gateway.retry_header
            response["headers"] = {
                retry.name: {"description": retry.doc, "required": True, "schema": self._inputs.word(retry.word)}
            }
        return response

    def _beside(self, param: Param, place: str) -> dict[str, Any]:
        schema = param_schema(self._inputs, param, param.name)
        text = schema.pop("description")
        return {"name": param.name, "in": place, "required": param.required, "description": text, "schema": schema}

    def _ref(self, name: str) -> Schema:
        return {"$ref": self._schema(name)}
