"""Examples of the gateway promise only what their operation can do, and are printed and run as they stand.

An example is one request, perhaps after a setup of others. An operation on a run acts on the run that the setup opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from tools.generate.gateway import REASON, VERSION_FIELD
from tools.generate.model import Contract, Gateway, Operation
from tools.generate.problems import ContractError, Problem, did_you_mean
from tools.generate.schemas import Schema, args_schema

_SUCCESS = 200


def gateway_examples(gateway: Gateway) -> list[dict[str, Any]]:
    """All examples, flat, for tests to run; requests as they are sent."""
    return [_row(gateway, operation, example) for operation in gateway.operations for example in operation.examples]


def sent(gateway: Gateway, operation: Operation, example: Mapping[str, Any]) -> dict[str, Any]:
    """The request of an example or of a step of its setup: a body with its version, or the fields of a query."""
    request: dict[str, Any] = example.get("request", {})
    return {VERSION_FIELD: gateway.api_version, **request} if operation.writes else request


def check_gateway_examples(contract: Contract) -> None:
    """Raise ContractError for every example that its operation could not answer so."""
    gateway = contract.gateway
    if gateway is None:
        return
    check = _Check(contract, gateway)
    problems = [problem for operation in gateway.operations for problem in check.operation(operation)]
    if problems:
        raise ContractError(problems)


def _row(gateway: Gateway, operation: Operation, example: Mapping[str, Any]) -> dict[str, Any]:
    known = {found.stem: found for found in gateway.operations}
    setup = [
        {"operation": known[step["operation"]].name, "request": sent(gateway, known[step["operation"]], step)}
        for step in example.get("setup", [])
    ]
    outcome = {word: example[word] for word in ("status", "data", "reason") if word in example}
    request = sent(gateway, operation, example)
    return {"operation": operation.name, "name": example["name"], "setup": setup, "request": request, **outcome}


class _Check:
    def __init__(self, contract: Contract, gateway: Gateway) -> None:
        self._contract = contract
        self._gateway = gateway
        self._known = {operation.stem: operation for operation in gateway.operations}
        self._schemas: dict[str, Schema] = {}

    def operation(self, operation: Operation) -> Iterator[Problem]:
        names: set[str] = set()
        for index, example in enumerate(operation.examples):
            for fault in self._faults(operation, example, names):
                yield Problem(operation.where, operation.example_lines[index], f"examples.{index}: {fault}")
            names.add(example["name"])

    def _faults(self, operation: Operation, example: Mapping[str, Any], names: set[str]) -> Iterator[str]:
        if example["name"] in names:
            yield f"the name '{example['name']}' stands twice"
        yield from self._setup_faults(operation, example.get("setup", []))
        if example["status"] == _SUCCESS:
            yield from self._success_faults(operation, example)
        else:
            yield from self._failure_faults(operation, example)

    def _setup_faults(self, operation: Operation, setup: list[Mapping[str, Any]]) -> Iterator[str]:
        steps = [self._known.get(step["operation"]) for step in setup]
        for step, target in zip(setup, steps, strict=True):
            if target is None:
                yield f"unknown operation '{step['operation']}'{did_you_mean(step['operation'], self._known)}"
            else:
                yield from self._request_faults(target, step)
        if operation.has_run and not (steps and steps[0] and steps[0].scope == "global"):
            yield "the setup opens no run first"

    def _success_faults(self, operation: Operation, example: Mapping[str, Any]) -> Iterator[str]:
        yield from self._request_faults(operation, example)
        if "data" not in example or "reason" in example:
            yield "a success has data and no reason"
        fields = {field.name for field in self._contract.shapes[f"gateway.{operation.returns_shape}"].fields}
        for name in example.get("data", {}):
            if name not in fields:
                yield f"the data has no field '{name}'{did_you_mean(name, fields)}"

    def _failure_faults(self, operation: Operation, example: Mapping[str, Any]) -> Iterator[str]:
        if "reason" not in example or "data" in example:
            yield "a failure has a reason and no data"
        statuses = {self._gateway.failures[name].status for name in operation.failures}
        if example["status"] not in statuses:
            yield f"the operation has no failure of the status {example['status']}"
        reasons = self._contract.enums[REASON].values
        reason = example.get("reason")
        if reason is not None and reason not in reasons:
            yield f"unknown reason '{reason}'{did_you_mean(reason, reasons)}"

    def _request_faults(self, operation: Operation, example: Mapping[str, Any]) -> Iterator[str]:
        if operation.name not in self._schemas:
            self._schemas[operation.name] = args_schema(
                self._contract, operation.params, operation.rules, operation.summary, "body"
            )
        validator = Draft202012Validator(self._schemas[operation.name])
        error = next(validator.iter_errors(sent(self._gateway, operation, example)), None)
        if error is not None:
            place = "/".join(str(step) for step in error.absolute_path)
            yield f"the request of {operation.name} is refused at '/{place}': {error.message}"
