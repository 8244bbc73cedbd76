"""The agent event gateway for readers: operations with what they take and answer, failures, words, limits, shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.generate.gateway import REASON, VERSION_FIELD
from tools.generate.gateway_examples import sent
from tools.generate.html import slug
from tools.generate.model import GATEWAY, RUN_FIELD, Contract, Gateway, Operation
from tools.generate.rows import constant_row, param_rows, shape_row


def gateway_reference(contract: Contract) -> dict[str, Any]:
    """What the pages tell of the gateway; `gateway` is None when there is none."""
    gateway = contract.gateway
    if gateway is None:
        return {"gateway": None}
    prefix = f"{GATEWAY}."
    enums = [enum for name, enum in sorted(contract.enums.items()) if name.startswith(prefix) and name != REASON]
    shapes = [shape for name, shape in contract.shapes.items() if name.startswith(prefix)]
    return {
        "gateway": gateway,
        "gateway_operations": [_operation(contract, gateway, operation) for operation in gateway.operations],
        "gateway_envelopes": _envelopes(gateway),
        "gateway_failures": list(gateway.failures.values()),
        "gateway_reasons": contract.enums[REASON].values,
        "gateway_enums": [{"name": enum.name.removeprefix(prefix), "enum": enum} for enum in enums],
        "gateway_constants": [constant_row(name, entry) for name, entry in gateway.constants.items()],
        "gateway_shapes": [shape_row(contract, shape) for shape in shapes if shape.doc],
    }


def _operation(contract: Contract, gateway: Gateway, operation: Operation) -> dict[str, Any]:
    known = {found.stem: found for found in gateway.operations}
    return {
        "operation": operation,
        "path": operation.path.replace(RUN_FIELD, "<runId>"),
        "fields": param_rows(contract, operation.params),
        "rules": [rule.sentence for rule in operation.rules],
        "returns": {
            "name": operation.returns_shape,
            "anchor": slug(f"Shape {GATEWAY}.{operation.returns_shape}", set()),
        },
        "failures": [gateway.failures[name] for name in operation.failures],
        "links": [{"name": known[link.to].name, "doc": link.doc} for link in operation.links],
        "examples": [_example(gateway, operation, example) for example in operation.examples],
    }


def _example(gateway: Gateway, operation: Operation, example: Mapping[str, Any]) -> dict[str, Any]:
    known = {found.stem: found for found in gateway.operations}
    steps = [known[step["operation"]].name for step in example.get("setup", [])]
    if "data" in example:
        outcome = f"-> {example['status']} {_shown(example['data'])}"
    else:
        outcome = f"-> {example['status']} refused: {example['reason']}"
    request = sent(gateway, operation, example)
    lines = [*([_shown(request)] if request else []), outcome]
    return {"name": example["name"], "after": ", ".join(steps), "lines": lines}


def _envelopes(gateway: Gateway) -> list[str]:
    """The first success and the first failure among the examples, as they are sent."""
    examples = [(operation, example) for operation in gateway.operations for example in operation.examples]
    operation, good = next(pair for pair in examples if "data" in pair[1])
    success = {"ok": True, "operation": operation.name, "data": good["data"], "meta": {}}
    operation, bad = next(pair for pair in examples if "reason" in pair[1])
    failed = next(
        found for found in map(gateway.failures.__getitem__, operation.failures) if found.status == bad["status"]
    )
    error = {"code": failed.code, "message": failed.message, "details": {"reason": bad["reason"]}}
    failure = {"ok": False, "operation": operation.name, "error": error}
    return [_shown({VERSION_FIELD: gateway.api_version, **envelope}) for envelope in (success, failure)]


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
