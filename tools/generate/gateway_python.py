"""The agent event gateway as Python: its operations, failures and tables, and the protocol of its handlers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.generate.gateway import REASON
from tools.generate.literal import Call, literal
from tools.generate.model import Contract, Gateway, Operation, Param, Scalar
from tools.generate.tables import table_values


def gateway_pages(contract: Contract) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Template and values of each module, by path; nothing when there is no gateway."""
    gateway = contract.gateway
    if gateway is None:
        return {}
    reasons = contract.enums[REASON].values
    return {
        "gateway.py": ("gateway.py.j2", _gateway_values(contract, gateway)),
        "gateway_errors.py": (
            "gateway_errors.py.j2",
            {
                "reasons": list(reasons),
                "reason_docs": literal(dict(reasons), 40),
                "failures": list(gateway.failures.values()),
            },
        ),
        "handlers/gateway.py": (
            "handlers_gateway.py.j2",
            {"gateway": gateway, "imports": sorted(_names(gateway))},
        ),
    }


def _gateway_values(contract: Contract, gateway: Gateway) -> dict[str, Any]:
    return {
        "base_path": literal(gateway.base_path),
        "api_version": literal(gateway.api_version),
        "key_header": gateway.key_header,
        "retry_header": gateway.retry_header,
        "operations": literal({operation.name: _operation(operation) for operation in gateway.operations}, 40),
        "formats": literal({name: _format(scalar) for name, scalar in contract.scalars.items() if _own(scalar)}, 40),
        "tables": table_values(gateway.tables),
    }


def _operation(operation: Operation) -> Call:
    fields = () if operation.writes else operation.params
    return Call(
        "Operation",
        (),
        (
            ("name", operation.name),
            ("stem", operation.stem),
            ("http_method", operation.method),
            ("path", operation.path),
            ("scope", operation.scope),
            ("has_run", operation.has_run),
            ("writes", operation.writes),
            ("state_first", operation.state_first),
            ("query", tuple(Call("Field", (f.name, _kind(f), f.required, f.default)) for f in fields)),
            ("defaults", {param.name: param.default for param in operation.params if param.has_default}),
            ("failures", operation.failures),
        ),
    )


def _kind(field: Param) -> str:
    expr = field.word.expr
    return "integer" if isinstance(expr, Scalar) and expr.schema["type"] == "integer" else "text"


def _own(scalar: Scalar) -> bool:
    """A format of our own is checked by us; its name is that of its type."""
    return scalar.schema.get("format") == scalar.name


def _format(scalar: Scalar) -> Call:
    return Call("TextFormat", (scalar.schema["pattern"], scalar.schema.get("maxLength")))


def _names(gateway: Gateway) -> set[str]:
    return {name for operation in gateway.operations for name in (operation.input_class, operation.result_class)}
