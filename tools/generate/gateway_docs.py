"""The agent event gateway for readers: operations with what they take and answer, failures, words, limits, shapes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tools.generate.gateway import REASON, VERSION_FIELD
from tools.generate.gateway_examples import sent
from tools.generate.html import slug
from tools.generate.model import GATEWAY, RUN_FIELD, Contract, Gateway, Operation, Shape
from tools.generate.rows import code, constant_row, param_rows, shape_row

_INNERMOST = re.compile(r"(\w+)>*$")
_WIDTH = 100


def gateway_reference(contract: Contract) -> dict[str, Any]:
    """What the pages tell of the gateway; `gateway` is None when there is none."""
    gateway = contract.gateway
    if gateway is None:
        return {"gateway": None}
    prefix = f"{GATEWAY}."
    targets = _targets(contract)
    enums = [enum for name, enum in sorted(contract.enums.items()) if name.startswith(prefix) and name != REASON]
    shapes = [shape for name, shape in contract.shapes.items() if name.startswith(prefix)]
    return {
        "gateway": gateway,
        "gateway_operations": [_operation(contract, gateway, operation, targets) for operation in gateway.operations],
        "gateway_envelopes": _envelopes(gateway),
        "gateway_failures": list(gateway.failures.values()),
        "gateway_reasons": contract.enums[REASON].values,
        "gateway_enums": [{"name": enum.name.removeprefix(prefix), "enum": enum} for enum in enums],
        "gateway_constants": [constant_row(name, entry) for name, entry in gateway.constants.items()],
        "gateway_shapes": [_shape(contract, shape, targets) for shape in shapes if shape.doc],
    }


def _targets(contract: Contract) -> dict[str, str]:
    """Where a reader finds what a type means, by its name: a list of words, a shape, or the table of types."""
    prefix = f"{GATEWAY}."
    found = dict.fromkeys(contract.scalars, "#types")
    for heading, names in (("Words", contract.enums), ("Shape", contract.shapes)):
        for name in names:
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = f"#{slug(f'{heading} {name}', set())}"
    return found


def _linked(rows: list[dict[str, str]], targets: Mapping[str, str]) -> list[dict[str, str]]:
    """The rows, with the types that have a name leading to what they mean."""
    return [{**row, "shown": " \\| ".join(_link(part, targets) for part in _parts(row["type"]))} for row in rows]


def _parts(text: str) -> list[str]:
    """The alternatives of a type; those inside a list stay together."""
    return [text] if "<" in text else text.split(" | ")


def _link(text: str, targets: Mapping[str, str]) -> str:
    name = _INNERMOST.search(text)
    target = None if name is None else targets.get(name[1])
    return code(text) if target is None else f"[{code(text)}]({target})"


def _shape(contract: Contract, shape: Shape, targets: Mapping[str, str]) -> dict[str, Any]:
    row = shape_row(contract, shape)
    return {**row, "fields": _linked(row["fields"], targets)}


def _operation(
    contract: Contract, gateway: Gateway, operation: Operation, targets: Mapping[str, str]
) -> dict[str, Any]:
    known = {found.stem: found for found in gateway.operations}
    return {
        "operation": operation,
        "path": operation.path.replace(RUN_FIELD, "<runId>"),
        "fields": _linked(param_rows(contract, operation.params), targets),
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


def _shown(value: Any, indent: str = "") -> str:
    """JSON as a reader reads it: on one line where it fits, else one line a member."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = f"{indent}  "
    if isinstance(value, dict):
        lines = [f"{deeper}{json.dumps(name)}: {_shown(member, deeper)}" for name, member in value.items()]
    else:
        lines = [f"{deeper}{_shown(item, deeper)}" for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([opening, ",\n".join(lines), f"{indent}{closing}"])
