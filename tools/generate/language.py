"""The request tool, its words and its errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tools.generate.examples import error_code
from tools.generate.literal import literal
from tools.generate.model import Contract, camel


def request_values(contract: Contract) -> dict[str, Any]:
    """The tool and its words as source."""
    data = contract.data["request"]
    params = contract.tool_params
    advisories = {
        code: {"code": code, **{name: text for name, text in entry.items() if name != "counts"}}
        for code, entry in data["advisories"].items()
    }
    return {
        "tool": data["tool"],
        "tool_name": literal(data["tool"]["name"]),
        "tool_summary": literal(data["tool"]["summary"]),
        "tool_description": literal(data["tool"]["description"]),
        "presentations": literal(tuple(data["presentations"]), 40),
        "formats": literal(tuple(data["formats"]), 40),
        "modes": literal(tuple(data["modes"]), 40),
        "presentation_type": _literal_type(data["presentations"]),
        "format_type": _literal_type(data["formats"]),
        "mode_type": _literal_type(data["modes"]),
        "envelope_fields": literal(tuple(param.name for param in params), 40),
        "envelope_defaults": literal({param.name: param.default for param in params if param.has_default}, 40),
        "reserved": literal(frozenset(data["reserved_args"]), 40),
        "help_arg": literal(data["help_arg"]),
        "dsl_errors": literal(dict(data["dsl_errors"]), 40),
        "advisories": literal(advisories, 50),
        "dispositions": literal(tuple(contract.data["errors"]["dispositions"]), 40),
    }


def error_values(contract: Contract) -> list[dict[str, Any]]:
    """One row for each error class."""
    return [
        {
            "key": name,
            "class_name": camel(name),
            "doc": entry["doc"],
            "repair": entry["repair"],
            "code": json.dumps(error_code(name, entry)),
            "kind": json.dumps(entry["kind"]),
            "http_status": entry["http_status"],
            "no_write": entry.get("no_write", False),
            "retryable": entry.get("retryable", False),
            "fields": list(entry.get("fields", {})),
        }
        for name, entry in contract.errors.items()
    ]


def _literal_type(words: Iterable[str]) -> str:
    return f"Literal[{', '.join(json.dumps(word) for word in words)}]"
