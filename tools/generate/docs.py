"""The published text: reference, settings, errors, pages for agents; laid out by templates/docs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.generate.describe import json_text, type_text
from tools.generate.examples import error_code, placeholders, possible_errors, readable, told_by
from tools.generate.gateway_docs import gateway_reference
from tools.generate.html import page
from tools.generate.model import (
    AnyOf,
    Contract,
    Expr,
    Field,
    ListOf,
    MapOf,
    Pack,
    Shape,
    ShapeUse,
    Verb,
)
from tools.generate.problems import ContractError, Problem, did_you_mean
from tools.generate.rows import cell, constant_row, field_rows, param_rows, shape_row
from tools.generate.surface import paths
from tools.generate.templates import Templates

_GUIDES = "docs/guides"
_ORDER = f"{_GUIDES}/_order.txt"


def emit_docs(contract: Contract, templates: Templates, root: Path) -> dict[str, str]:
    """Every page below `docs/`, by path."""
    guides = read_guides(root)
    reference = templates.render("docs/api-reference.md.j2", **_reference(contract))
    errors = templates.render("docs/errors.md.j2", **_errors(contract), **gateway_reference(contract))
    configuration = templates.render("docs/configuration.md.j2", settings=_settings(contract))
    titles = [(name, _title(text)) for name, text in guides]
    return {
        "docs/api-reference.md": reference,
        "docs/errors.md": errors,
        "docs/configuration.md": configuration,
        "docs/index.html": templates.render("docs/index.html.j2", **page([reference, configuration])),
        "docs/llms.txt": templates.render(
            "docs/llms.txt.j2", packs=contract.packs, gateway=contract.gateway, guides=titles, paths=paths(contract)
        ),
        "docs/llms-full.txt": "\n\n".join(
            text.strip() for text in (reference, configuration, *(text for _, text in guides))
        )
        + "\n",
    }


def read_guides(root: Path) -> list[tuple[str, str]]:
    """Name and text of each guide, in the order that `docs/guides/_order.txt` lists. Raises ContractError."""
    folder = root / _GUIDES
    present = sorted(path.name for path in folder.glob("*.md"))
    order = root / _ORDER
    listed = order.read_text(encoding="utf-8").split() if order.exists() else []
    problems = [
        Problem(_ORDER, line, f"there is no guide '{name}'{did_you_mean(name, present)}")
        for line, name in enumerate(listed, 1)
        if name not in present
    ]
    problems += [Problem(_ORDER, 1, f"the guide '{name}' is not listed") for name in present if name not in listed]
    if problems:
        raise ContractError(problems)
    return [(name, (folder / name).read_text(encoding="utf-8")) for name in listed]


def _title(text: str) -> str:
    return text.lstrip().splitlines()[0].lstrip("# ").strip() if text.strip() else ""


def _reference(contract: Contract) -> dict[str, Any]:
    data = contract.data
    limits = {name: entry["value"] for name, entry in data["limits"]["limits"].items()}
    return {
        "tool": data["request"]["tool"],
        "http": data["http"],
        "paths": paths(contract),
        "routes": contract.routes,
        "tool_params": param_rows(contract, contract.tool_params),
        "reserved": data["request"]["reserved_args"],
        "help_arg": data["request"]["help_arg"],
        "help_fields": field_rows(contract, contract.help_fields),
        "identifier_resolution": data["request"]["identifier_resolution"],
        "dsl_errors": data["request"]["dsl_errors"],
        "advisories": data["request"]["advisories"],
        "formats": data["request"]["formats"],
        "presentation": data["presentation"]["presentation"],
        "dispositions": data["errors"]["dispositions"],
        "limits": limits,
        "limit_rows": [constant_row(name, entry) for name, entry in data["limits"]["limits"].items()],
        "types": contract.scalars.values(),
        "kinds": data["kinds"],
        "relations": _relations(contract),
        "dependency_kinds": data["relations"]["dependency_kinds"],
        "events": data["events"],
        "packs": [_pack(contract, pack) for pack in contract.packs],
        **gateway_reference(contract),
        **_errors(contract),
    }


def _relations(contract: Contract) -> list[dict[str, Any]]:
    rows = []
    for name, entry in contract.data["relations"]["relations"].items():
        endpoints = list(entry["endpoints"])
        for pack in contract.packs:
            endpoints += [found for found in pack.edge_rules.get(name, ()) if found not in endpoints]
        if entry.get("note_to"):
            endpoints.append(f"note -> {'any record' if entry['note_to'] == 'any' else 'note'}")
        rows.append(
            {
                "name": name,
                "category": entry["category"],
                "symmetric": entry.get("symmetric", False),
                "doc": entry["doc"],
                "endpoints": [endpoint.replace("*", "any entity") for endpoint in endpoints],
            }
        )
    return rows


def _pack(contract: Contract, pack: Pack) -> dict[str, Any]:
    shapes = [shape for name, shape in contract.shapes.items() if name.startswith(f"{pack.name}.")]
    enums = [enum for name, enum in sorted(contract.enums.items()) if name.startswith(f"{pack.name}.")]
    return {
        "pack": pack,
        "verbs": [_verb(contract, verb) for verb in pack.verbs],
        "shapes": [shape_row(contract, shape) for shape in shapes if shape.doc],
        "enums": [{"name": enum.name.partition(".")[2], "enum": enum} for enum in enums],
        "constants": [constant_row(name, entry) for name, entry in pack.constants.items()],
    }


def _verb(contract: Contract, verb: Verb) -> dict[str, Any]:
    own = [name for name in possible_errors(verb, contract.errors) if name in verb.errors]
    shapes = _returned(contract, verb.returns.expr)
    return {
        "verb": verb,
        "params": param_rows(contract, verb.params),
        "rules": [rule.sentence for rule in verb.rules],
        "returns": type_text(verb.returns),
        "named_shapes": [shape_row(contract, shape) for shape in shapes if shape.doc],
        "fields": [row for shape in shapes if not shape.doc for row in field_rows(contract, shape.fields)],
        "plus": field_rows(contract, _plus(verb.returns.expr)),
        "beside": field_rows(contract, verb.beside),
        "errors": [{"name": name, **_error(name, contract.errors[name])} for name in own],
        "examples": [_example(example) for example in verb.examples],
        "effects": _effects(verb),
    }


def _returned(contract: Contract, expr: Expr) -> list[Shape]:
    """The shapes that an answer is made of, outermost only."""
    if isinstance(expr, ShapeUse):
        return [contract.shapes[expr.shape]]
    if isinstance(expr, ListOf):
        return _returned(contract, expr.item.expr)
    if isinstance(expr, MapOf):
        return _returned(contract, expr.value.expr)
    if isinstance(expr, AnyOf):
        found = [shape for option in expr.options for shape in _returned(contract, option.expr)]
        return list({shape.name: shape for shape in found}.values())
    return []


def _plus(expr: Expr) -> tuple[Field, ...]:
    """The fields that the verb adds to each of its shapes."""
    if isinstance(expr, AnyOf):
        found = [field for option in expr.options for field in _plus(option.expr)]
        return tuple({field.name: field for field in found}.values())
    return expr.plus if isinstance(expr, ShapeUse) else ()


def _effects(verb: Verb) -> str:
    writes = {
        "read": "reads",
        "write": "writes in one transaction",
        "self": "works outside a transaction and writes in short ones",
        "none": "touches no record",
    }[verb.tx]
    facts = [verb.category, writes, f"policy action `{verb.resource}.{verb.action}`"]
    if verb.cost == "slow":
        facts.append("slow")
    if verb.wait:
        facts.append("may wait for an answer")
    if verb.presentation == "always_verbose":
        facts.append("always answered verbose")
    return ", ".join(facts)


def example_lines(example: Mapping[str, Any]) -> list[str]:
    """An example as it is printed: the setup with the fields that later lines refer to, the call, its outcome."""
    setup, call = example.get("setup", []), example["call"]
    outcome = _outcome(example)
    shown = placeholders([*setup, call, outcome])
    lines: list[str] = []
    for index, text in enumerate(setup, 1):
        lines.append(readable(text, shown))
        told = told_by(index, shown)
        if told:
            lines.append(f"-> {json_text(told)}")
    return [*lines, readable(call, shown), readable(outcome, shown)]


def _outcome(example: Mapping[str, Any]) -> str:
    if "result" in example:
        return f"-> {json_text(example['result'])}"
    error = example["error"]
    code = f", code {error['code']}" if "code" in error else ""
    says = f", message with {json_text(error['says'])}" if "says" in error else ""
    return f"-> refused: {error['kind']}{code}{says}"


def _example(example: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": example["name"], "lines": example_lines(example), "note": example.get("note", "")}


def _error(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": entry["kind"],
        "code": error_code(name, entry),
        "status": entry["http_status"],
        "no_write": entry.get("no_write", False),
        "retryable": entry.get("retryable", False),
        "details": entry.get("details", []),
        "fields": list(entry.get("fields", {})),
        "doc": entry["doc"],
        "repair": entry["repair"],
    }


def _errors(contract: Contract) -> dict[str, Any]:
    return {
        "errors": [{"name": name, **_error(name, entry)} for name, entry in contract.errors.items()],
        "dispositions": contract.data["errors"]["dispositions"],
        "common_errors": [name for name, entry in contract.errors.items() if entry.get("always")],
        "details_max": contract.data["limits"]["limits"]["error_details_max"]["value"],
        "cell": cell,
    }


def _settings(contract: Contract) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "type": " | ".join(f'"{choice}"' for choice in entry["choices"]) if "choices" in entry else entry["type"],
            "default": "" if entry["default"] is None else json_text(entry["default"]),
            "env": [f"HIVEKEEP_{key.replace('.', '_').upper()}", *entry.get("env", [])],
            "aliases": entry.get("aliases", []),
            "flag": entry.get("flag", ""),
            "range": _range(entry),
            "project_file": entry["project_file"],
            "doc": entry["doc"],
        }
        for key, entry in contract.data["settings"]["settings"].items()
    ]


def _range(entry: Mapping[str, Any]) -> str:
    low, high = entry.get("minimum"), entry.get("maximum")
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if high is not None:
        return f"at most {high:,}"
    return f"at least {low:,}" if low is not None else ""
